package web

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/bentobuild/bento/cache/remote"
	"github.com/bentobuild/bento/cache/remote/transport"
)

// TestHostileServer: nothing that a server answers to GET is a blob unless it is that blob.
func TestHostileServer(t *testing.T) {
	t.Parallel()
	blob := strings.Repeat("blob", 50_000)
	_, digests := texts(blob)
	for name, answer := range map[string]http.HandlerFunc{
		"endless": func(w http.ResponseWriter, r *http.Request) { flood(w, r) },
		"gzip": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			io.WriteString(w, blob)
		},
		"longer":  func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, blob+"x") },
		"shorter": func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, blob[1:]) },
		"cut off": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", fmt.Sprint(len(blob)))
			io.WriteString(w, blob[:9])
		},
		"wrong":      func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "x"+blob[1:]) },
		"no content": func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusNoContent) },
		"a page": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			io.WriteString(w, "<html>")
		},
		"round": func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.Path, http.StatusFound) },
		"elsewhere": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://192.0.2.1/", http.StatusFound)
		},
		"broken": func(w http.ResponseWriter, r *http.Request) { panic(http.ErrAbortHandler) },
		"long header": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("X", strings.Repeat("x", 1<<20))
			io.WriteString(w, blob)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := httptest.NewServer(answer)
			defer s.Close()
			b := open(t, s.URL, nil)
			err := b.Fetch(t.Context(), []remote.Want{{Digest: digests[0]}}, func(w remote.Want, r io.Reader) error {
				if r == nil {
					return remote.ErrMiss
				}
				_, err := io.ReadFull(r, make([]byte, w.Size))
				return err
			})
			if err == nil || errors.Is(err, remote.ErrMiss) {
				t.Errorf("%v, want a fault", err)
			}
		})
	}
}

// flood answers until the client has enough.
func flood(w http.ResponseWriter, r *http.Request) {
	for r.Context().Err() == nil {
		if _, err := io.WriteString(w, strings.Repeat("blob", 1000)); err != nil {
			return
		}
	}
}

// TestBusyServer: what a busy server asks for is passed on, and is no miss.
func TestBusyServer(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", "3")
		w.WriteHeader(http.StatusTooManyRequests)
	}))
	defer s.Close()
	b := open(t, s.URL, nil)
	all, digests := texts("a")
	_, get := b.Result(t.Context(), digests[0])
	_, head := b.Missing(t.Context(), digests)
	_, put := all.send(t.Context(), b, digests...)
	for _, err := range []error{get, head, put} {
		var refusal interface{ RetryAfter() time.Duration }
		if !errors.As(err, &refusal) || refusal.RetryAfter() != 3*time.Second || errors.Is(err, remote.ErrMiss) || errors.Is(err, remote.ErrFull) {
			t.Errorf("%v", err)
		}
	}
}

// TestSimpleServer: a server that ignores ranges and has no HEAD is used nevertheless, and keeps its query.
func TestSimpleServer(t *testing.T) {
	t.Parallel()
	blob := strings.Repeat("blob", 50_000)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.RawQuery != "k=v" || !strings.HasPrefix(r.URL.Path, "/a b/cas/"):
			w.WriteHeader(http.StatusInternalServerError)
		case r.Method == http.MethodHead:
			w.WriteHeader(http.StatusMethodNotAllowed)
		case r.Method == http.MethodGet:
			io.WriteString(w, blob)
		}
	}))
	defer s.Close()
	b := open(t, s.URL+"/a%20b/?k=v", func(o *transport.Options) { o.Trusted = false })
	_, digests := texts(blob)
	if missing, err := b.Missing(t.Context(), digests); err != nil || len(missing) != 1 {
		t.Errorf("%v, %v", missing, err)
	}
	err := b.Fetch(t.Context(), []remote.Want{{Digest: digests[0], From: 150_000}}, func(w remote.Want, r io.Reader) error {
		data, err := io.ReadAll(r)
		if string(data) != blob[150_000:] {
			t.Errorf("%d bytes", len(data))
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
