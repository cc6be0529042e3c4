package remoteexec

import (
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"path"
	"sync"
	"testing"
)

// proxy is between a client and a server of gRPC without TLS, and counts the calls.
type proxy struct {
	address string

	mu    sync.Mutex
	calls map[string]int // by the names of methods
}

func newProxy(t testing.TB, server string) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{address: l.Addr().String(), calls: make(map[string]int)}
	plain := new(http.Protocols)
	plain.SetUnencryptedHTTP2(true)
	forward := &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(&url.URL{Scheme: "http", Host: server}) },
		Transport:     &http.Transport{Protocols: plain},
		FlushInterval: -1,
	}
	count := func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		p.calls[path.Base(r.URL.Path)]++
		p.mu.Unlock()
		forward.ServeHTTP(w, r)
	}
	s := &http.Server{Handler: http.HandlerFunc(count), Protocols: plain}
	var serving sync.WaitGroup
	serving.Go(func() { _ = s.Serve(l) }) // until Close
	t.Cleanup(func() { s.Close(); serving.Wait() })
	return p
}

// take returns the calls since the last time.
func (p *proxy) take() map[string]int {
	p.mu.Lock()
	defer p.mu.Unlock()
	calls := p.calls
	p.calls = make(map[string]int)
	return calls
}
