package ui

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"strings"
	"time"
)

// guard refuses what does not come from the page: requests for another name (DNS rebinding), from other sites, and
// requests about the workspace without the token. The page itself has nothing of the workspace, so that it needs none.
func (s *Server) guard(next http.Handler) http.Handler {
	_, port, _ := net.SplitHostPort(s.host)
	names := []string{s.host, "localhost:" + port}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
		public := r.URL.Path == "/" || r.URL.Path == "/favicon.ico" // browsers ask for the latter by themselves
		if r.URL.Path == "/" {
			h.Set("Content-Security-Policy", "frame-ancestors 'none'") // the page has the rest itself
		}
		h.Set("X-Frame-Options", "DENY")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(patience))
		origin, site := r.Header.Get("Origin"), r.Header.Get("Sec-Fetch-Site")
		switch {
		case r.Host != names[0] && r.Host != names[1]:
			http.Error(w, "this server has another name", http.StatusMisdirectedRequest)
		case origin != "" && origin != "http://"+r.Host:
			http.Error(w, "requests of other sites are refused", http.StatusForbidden)
		case public:
			next.ServeHTTP(w, r)
		case site != "" && site != "same-origin" && site != "none":
			http.Error(w, "requests of other sites are refused", http.StatusForbidden)
		case !s.knows(r.Header.Get("Authorization")):
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "open the address that bento ui has printed", http.StatusUnauthorized)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// knows reports whether the value of a header has the token. It takes the same time for each value of a length.
func (s *Server) knows(header string) bool {
	token, ok := strings.CutPrefix(header, "Bearer ")
	got, want := sha256.Sum256([]byte(token)), sha256.Sum256([]byte(s.token))
	return subtle.ConstantTimeCompare(got[:], want[:]) == 1 && ok
}
