package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// TestDoctorClock: doctor warns of a clock that differs from the server's, unless a cache on the way has kept the answer.
func TestDoctorClock(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		off    time.Duration
		kept   bool
		status int
		want   string
	}{
		"right":   {0, false, http.StatusNotFound, ""},
		"little":  {2 * time.Minute, false, http.StatusNotFound, ""},
		"behind":  {2 * time.Hour, false, http.StatusNotFound, "2h0m0s behind that of the server"},
		"ahead":   {-24 * time.Hour, false, http.StatusNotFound, "24h0m0s ahead of that of the server"},
		"refused": {-24 * time.Hour, false, http.StatusForbidden, "24h0m0s ahead of that of the server"},
		"kept":    {-24 * time.Hour, true, http.StatusNotFound, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Date", time.Now().Add(test.off).UTC().Format(http.TimeFormat))
				if test.kept {
					w.Header().Set("Age", "86400")
				}
				w.WriteHeader(test.status)
			}))
			defer server.Close()
			root := t.TempDir()
			write(t, root, "bento.toml", "[cache]\nremote_trust = \"server\"\n")
			cmd := exec.Command(builtBento(t), "doctor")
			cmd.Dir, cmd.Env = root, append(os.Environ(), "BENTO_CACHE_DIR="+t.TempDir(), "BENTO_REMOTE="+server.URL)
			out, _ := cmd.CombinedOutput() // doctor may find fault with this machine
			if !strings.Contains(string(out), "remote ") {
				t.Fatalf("doctor has not tried the remote cache:\n%s", out)
			}
			if found := strings.Contains(string(out), "remote.clock"); found != (test.want != "") || !strings.Contains(string(out), test.want) {
				t.Errorf("doctor says\n%s, want %q", out, test.want)
			}
		})
	}
}
