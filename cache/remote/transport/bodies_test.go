package transport

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
)

// slowly is content that reports when it is read after the end.
type slowly struct {
	r     io.Reader
	ended *atomic.Bool
	t     *testing.T
}

func (s *slowly) Read(p []byte) (int, error) {
	if s.ended.Load() {
		s.t.Error("read after the end")
	}
	n, err := s.r.Read(p[:min(len(p), 4096)])
	if s.ended.Load() {
		s.t.Error("a read lasts longer than the request")
	}
	return n, err
}

func (s *slowly) Close() error { return nil }

// TestBodiesEnd: after an early answer, nothing reads the content that was being sent.
func TestBodiesEnd(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.CopyN(io.Discard, r.Body, 1)
		w.WriteHeader(http.StatusRequestEntityTooLarge)
	}))
	defer s.Close()
	c := client(t, Options{Address: address(t, s.URL)})
	for range 20 {
		var ended atomic.Bool
		var b Bodies
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodPut, s.URL, b.Add(&slowly{bytes.NewReader(make([]byte, 8<<20)), &ended, t}))
		req.ContentLength = 8 << 20
		if res, err := c.Do(req); err == nil {
			res.Body.Close()
		}
		b.Close()
		ended.Store(true)
		late := b.Add(io.NopCloser(bytes.NewReader([]byte("x"))))
		if n, err := late.Read(make([]byte, 1)); n != 0 || err == nil {
			t.Error("content of a request that has ended")
		}
	}
	var b Bodies
	defer b.Close()
	r := b.Add(struct {
		io.ReadSeeker
		io.Closer
	}{bytes.NewReader([]byte("abc")), io.NopCloser(nil)})
	if _, err := r.Seek(2, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	if data, err := io.ReadAll(r); string(data) != "c" || err != nil {
		t.Errorf("%q, %v", data, err)
	}
}
