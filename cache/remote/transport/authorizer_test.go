package transport

import (
	"context"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/bentobuild/bento/cache/remote"
)

func quiet() *log.Logger { return log.New(io.Discard, "", 0) }

// helper writes a credential helper, which appends what it reads to a file and prints the output of a shell script.
func helper(t *testing.T, script string) (c Credentials, asked func() []string) {
	t.Helper()
	dir := t.TempDir()
	path, seen := filepath.Join(dir, "helper"), filepath.Join(dir, "seen")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n{ echo \"$1 $(cat)\"; } >>\""+seen+"\"\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	return Credentials{Helper: []string{path}, Env: []string{"PATH=" + os.Getenv("PATH"), "SEEN=" + seen}}, func() []string {
		data, _ := os.ReadFile(seen)
		return strings.Split(strings.TrimSpace(string(data)), "\n")
	}
}

// TestHelper: many requests ask the credential helper once, and one that is refused asks it again.
func TestHelper(t *testing.T) {
	t.Parallel()
	c, asked := helper(t, `printf '{"headers": {"authorization": ["Bearer %s"]}, "expires": "2999-01-01T00:00:00Z"}' $(wc -l <"$SEEN")`)
	var mu sync.Mutex
	good := "Bearer 1"
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if text, _ := io.ReadAll(r.Body); r.Header.Get("Authorization") != good || string(text) != "content" {
			w.WriteHeader(http.StatusUnauthorized)
		}
	}))
	defer s.Close()
	u := address(t, s.URL+"/base")
	cl := client(t, Options{Address: u, Trusted: true, Credentials: c})
	put := func() int {
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodPut, s.URL+"/base/x", strings.NewReader("content"))
		res, err := cl.Do(req)
		if err != nil {
			t.Error(err)
			return 0
		}
		defer Discard(res)
		return res.StatusCode
	}
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if code := put(); code != http.StatusOK {
				t.Errorf("%d", code)
			}
		})
	}
	wg.Wait()
	if want := `get {"uri":"` + u.String() + `"}`; len(asked()) != 1 || asked()[0] != want {
		t.Fatalf("asked %q, want once %q", asked(), want)
	}
	mu.Lock()
	good = "Bearer 2"
	mu.Unlock()
	if code := put(); code != http.StatusOK || len(asked()) != 2 {
		t.Errorf("after the token expired: %d, asked %d times", code, len(asked()))
	}
	mu.Lock()
	good = "none"
	mu.Unlock()
	if code := put(); code != http.StatusUnauthorized || len(asked()) != 3 {
		t.Errorf("a token that is refused for good: %d, asked %d times", code, len(asked()))
	}
}

func TestHelperFaults(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]string{
		"echo nothing":                     "no JSON",
		"echo oh >&2; exit 3":              "exited with status 3: oh",
		"yes | head -c 100000":             "printed more than 65536 bytes",
		`echo '{"expires": "tomorrow"}'`:   "expires at",
		`echo '{"headers": {"Host": []}}'`: "describes the connection",
	} {
		c, _ := helper(t, script)
		a := (&Options{Address: address(t, "https://cache.example"), Trusted: true, Credentials: c}).Authorizer()
		if _, err := a.Header(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", script, err, want)
		}
	}
	c, asked := helper(t, `echo '{"headers": {}, "expires": "2001-01-01T00:00:00Z"}'`)
	a := (&Options{Address: address(t, "https://cache.example"), Trusted: true, Credentials: c}).Authorizer()
	for range 2 {
		if _, err := a.Header(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if len(asked()) != 2 {
		t.Errorf("an answer that has expired was used again: asked %d times", len(asked()))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := a.Header(ctx); err == nil {
		t.Error("cancelled, and still answered")
	}
}

// TestSlowHelper: the time of a credential helper is no time of the server, and its failure answers all who waited for it.
func TestSlowHelper(t *testing.T) {
	t.Parallel()
	t.Run("answers", func(t *testing.T) { slowHelper(t, `echo '{"headers": {"A": ["b"]}}'`, "") })
	t.Run("fails", func(t *testing.T) { slowHelper(t, "exit 4", "exited with status 4") })
}

func slowHelper(t *testing.T, script, want string) {
	t.Parallel()
	const answer = time.Second
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	c, asked := helper(t, `read x <"$PIPE"; `+script)
	c.Env = append(c.Env, "PIPE="+pipe)
	a := (&Options{Address: address(t, "https://cache.example"), Trusted: true, Credentials: c}).Authorizer()
	var group sync.WaitGroup
	for range 3 {
		group.Go(func() {
			ctx, w := remote.Watch(t.Context(), remote.Limits{Answer: answer})
			defer w.Stop()
			header, err := a.Header(ctx)
			if want == "" && (err != nil || header.Get("A") != "b") || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
				t.Errorf("%v, %v", header, err)
			}
		})
	}
	f, err := os.OpenFile(pipe, os.O_WRONLY, 0) // when the helper has opened it
	if err != nil {
		t.Fatal(err)
	}
	<-time.After(answer * 5 / 4)
	if _, err := f.WriteString("go\n"); err != nil {
		t.Error(err)
	}
	f.Close()
	group.Wait()
	if len(asked()) != 1 {
		t.Errorf("asked %d times", len(asked()))
	}
}

func FuzzProof(f *testing.F) {
	f.Add([]byte(`{"headers": {"Authorization": ["Bearer x"], "x-a": ["1", "2"]}, "expires": "2026-01-02T03:04:05Z"}`))
	f.Add([]byte(`{"headers": {"A B": ["\n"]}}`))
	f.Add([]byte(`[]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := parseProof(data, time.Unix(0, 0))
		if err != nil {
			return
		}
		for name, values := range p.header {
			if err := checkHeader(name, values); err != nil {
				t.Errorf("%q: %v", data, err)
			}
		}
	})
}
