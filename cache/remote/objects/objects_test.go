package objects

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/bentobuild/bento/cache/remote"
	"github.com/bentobuild/bento/cache/remote/remotetest"
)

// shelf is a server in memory, whose faults a test chooses.
type shelf struct {
	mu   sync.Mutex
	data map[string]string
	gets atomic.Int64
	body func(name string, from int64, text string) (io.Reader, error) // nil: all of it from from on
	put  func(o Object) error
}

func (s *shelf) Get(ctx context.Context, o Object, from int64) (io.ReadCloser, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	s.gets.Add(1)
	s.mu.Lock()
	text, ok := s.data[o.Name]
	s.mu.Unlock()
	if !ok {
		return nil, remote.ErrMiss
	}
	if s.body == nil {
		return io.NopCloser(strings.NewReader(text[from:])), nil
	}
	r, err := s.body(o.Name, from, text)
	return io.NopCloser(r), err
}

func (s *shelf) Has(ctx context.Context, o Object) (bool, error) {
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	text, ok := s.data[o.Name]
	return ok && int64(len(text)) == o.Size, nil
}

func (s *shelf) Put(ctx context.Context, o Object, content Source) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if s.put != nil {
		if err := s.put(o); err != nil {
			return err
		}
	}
	r, err := content.Reader(o)
	if err != nil {
		return err
	}
	defer r.Close()
	data, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.data[o.Name] = string(data)
	return nil
}

func (s *shelf) Close() error { return nil }

// filled returns a shelf with texts as blobs, and their digests.
func filled(texts ...string) (s *shelf, digests []remote.Digest) {
	s = &shelf{data: make(map[string]string)}
	for _, text := range texts {
		d := remote.Sum([]byte(text))
		s.data[blobOf(d).Name] = text
		digests = append(digests, d)
	}
	return s, digests
}

// fetch returns what a Backend passes on, "" for a blob that it lacks.
func fetch(ctx context.Context, s *shelf, wants ...remote.Want) (map[remote.Want]string, error) {
	got := make(map[remote.Want]string)
	err := Backend(s).Fetch(ctx, wants, func(w remote.Want, r io.Reader) error {
		if r == nil {
			got[w] = ""
			return nil
		}
		data, err := io.ReadAll(r)
		if err == nil {
			got[w] = string(data)
		}
		return err
	})
	return got, err
}

func wants(digests []remote.Digest) (list []remote.Want) {
	for _, d := range digests {
		list = append(list, remote.Want{Digest: d})
	}
	return list
}

func text(n int) string { return strings.Repeat("0123456789abcdef", n/16+1)[:n] }

// TestFetch: blobs of each size arrive whole, once each, those that are missing as such, and the empty one without a
// question.
func TestFetch(t *testing.T) {
	t.Parallel()
	texts := []string{"", "a", text(small), text(small + 1), text(large + 7)}
	for i := range 300 {
		texts = append(texts, fmt.Sprint("blob ", i))
	}
	s, digests := filled(texts...)
	delete(s.data, blobOf(digests[0]).Name)
	want := make(map[remote.Want]string)
	for i, w := range wants(digests) {
		want[w] = texts[i]
	}
	gone := remote.Want{Digest: remote.Sum([]byte("gone"))}
	far := remote.Want{Digest: remote.Sum([]byte(text(large + 8)))}
	late := remote.Want{Digest: digests[4], From: 100}
	want[gone], want[far], want[late] = "", "", text(large + 7)[100:]
	got, err := fetch(t.Context(), s, append(wants(digests), gone, far, late)...)
	if err != nil || !maps.Equal(got, want) {
		t.Errorf("%v; %d blobs, want %d", err, len(got), len(want))
	}
	if _, err := fetch(t.Context(), s, remote.Want{Digest: digests[1], From: 2}); err == nil {
		t.Error("a blob is read from behind its end")
	}
}

// TestWrongContent: no reader that reads as much as it expects gets content that is not the blob's.
func TestWrongContent(t *testing.T) {
	t.Parallel()
	for _, size := range []int{1, 1000, small + 1, large + 1} {
		for name, wrong := range map[string]func(text string) string{
			"another byte":  func(text string) string { return text[:len(text)-1] + "X" },
			"a byte more":   func(text string) string { return text + "X" },
			"a byte less":   func(text string) string { return text[:len(text)-1] },
			"nothing":       func(string) string { return "" },
			"another start": func(text string) string { return "X" + text[1:] },
		} {
			s, digests := filled(text(size))
			s.body = func(_ string, from int64, text string) (io.Reader, error) {
				text = wrong(text)
				return strings.NewReader(text[min(from, int64(len(text))):]), nil
			}
			took := false
			err := Backend(s).Fetch(t.Context(), wants(digests), func(w remote.Want, r io.Reader) error {
				_, err := io.ReadFull(r, make([]byte, w.Size))
				if took = err == nil; took {
					return nil
				}
				if _, again := r.Read(make([]byte, 1)); again == nil || again == io.EOF {
					t.Errorf("%d bytes, %s: the next read returns %v", size, name, again)
				}
				return err
			})
			if err == nil || took {
				t.Errorf("%d bytes, %s: %v", size, name, err)
			}
		}
	}
	s, _ := filled()
	if _, err := fetch(t.Context(), s, remote.Want{Digest: remote.Digest{Hash: [32]byte{1}}}); err == nil {
		t.Error("no bytes have the hash 1")
	}
}

// TestCutOff: a download continues where it was cut off, for some times.
func TestCutOff(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pieces int
		good   bool
	}{{2, true}, {4, true}, {5, false}} {
		s, digests := filled(text(4_000_000))
		s.body = func(_ string, from int64, text string) (io.Reader, error) {
			end := min(from+4_000_000/int64(c.pieces)+1, int64(len(text)))
			return strings.NewReader(text[from:end]), nil
		}
		if _, err := fetch(t.Context(), s, wants(digests)...); (err == nil) != c.good {
			t.Errorf("%d pieces: %v", c.pieces, err)
		}
	}
}

// TestFetchEnds: the first error ends a Fetch, and no reader is used after that.
func TestFetchEnds(t *testing.T) {
	t.Parallel()
	enough := errors.New("enough")
	s, digests := filled("a", text(small+1), text(large+1), "b")
	calls := 0
	err := Backend(s).Fetch(t.Context(), wants(digests), func(remote.Want, io.Reader) error {
		calls++
		return enough
	})
	if err != enough || calls != 1 {
		t.Errorf("%v after %d calls", err, calls)
	}
	s.body = func(string, int64, string) (io.Reader, error) { return nil, remote.ErrDenied }
	if _, err := fetch(t.Context(), s, wants(digests)...); !errors.Is(err, remote.ErrDenied) {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(enough)
	if _, err := fetch(ctx, s, wants(digests)...); err != enough {
		t.Errorf("cancelled: %v", err)
	}
}

// stalled is a body that is silent until its transfer ends.
type stalled struct{ ctx context.Context }

func (s stalled) Read([]byte) (int, error) {
	<-s.ctx.Done()
	return 0, context.Cause(s.ctx)
}

// TestStalled: the end of the context ends a Fetch that waits for content.
func TestStalled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		s, digests := filled("a", text(large+1))
		s.body = func(string, int64, string) (io.Reader, error) {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			return stalled{ctx}, nil
		}
		end := make(chan error)
		go func() {
			_, err := fetch(ctx, s, wants(digests)...)
			end <- err
		}()
		synctest.Wait()
		cancel()
		if err := <-end; !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	})
}

// TestSend: a blob that the server does not take, or that is gone from here, keeps no other from being sent; a server
// that refuses all is asked no further.
func TestSend(t *testing.T) {
	t.Parallel()
	texts := map[remote.Digest]string{}
	var digests []remote.Digest
	for i := range 200 {
		text := strings.Repeat("x", i*8000)
		d := remote.Sum([]byte(text))
		texts[d] = text
		digests = append(digests, d)
	}
	big, gone := digests[199], digests[20]
	s, _ := filled()
	s.put = func(o Object) error {
		if o.Size == big.Size {
			return remote.ErrFull
		}
		return nil
	}
	local := errors.New("gone")
	open := func(d remote.Digest) (io.ReadSeekCloser, error) {
		if d == gone {
			return nil, local
		}
		return inMemory{bytes.NewReader([]byte(texts[d]))}, nil
	}
	var sent []remote.Digest
	err := Backend(s).Send(t.Context(), digests, open, func(d remote.Digest) { sent = append(sent, d) })
	if !errors.Is(err, remote.ErrFull) || !errors.Is(err, local) || len(sent) != 198 || len(s.data) != 197 {
		t.Errorf("%v; %d of 200 were sent, the server has %d", err, len(sent), len(s.data))
	}
	missing, err := Backend(s).Missing(t.Context(), digests)
	if err != nil || len(missing) != 2 || missing[0] != gone || missing[1] != big {
		t.Errorf("missing: %v, %v", missing, err)
	}
	var puts atomic.Int64
	s.put = func(Object) error { puts.Add(1); return remote.ErrDenied }
	if err := Backend(s).Send(t.Context(), digests[1:], open, func(remote.Digest) { t.Error("sent") }); !errors.Is(err, remote.ErrDenied) || puts.Load() > 64 {
		t.Errorf("%v after %d requests", err, puts.Load())
	}
}

func TestResults(t *testing.T) {
	t.Parallel()
	s, _ := filled()
	b, action := Backend(s), remote.Sum([]byte("action"))
	if _, err := b.Result(t.Context(), action); !errors.Is(err, remote.ErrMiss) {
		t.Errorf("%v", err)
	}
	for _, result := range []string{"one", "two", ""} {
		if err := b.PutResult(t.Context(), action, []byte(result)); err != nil {
			t.Fatal(err)
		}
		if got, err := b.Result(t.Context(), action); err != nil || string(got) != result {
			t.Errorf("%q, %v, want %q", got, err, result)
		}
	}
	for name := range s.data {
		s.data[name] = strings.Repeat("x", remote.MaxResult+1)
	}
	if _, err := b.Result(t.Context(), action); err == nil || errors.Is(err, remote.ErrMiss) {
		t.Errorf("a result without end: %v", err)
	}
}

// TestKit runs the conformance test of all backends.
func TestKit(t *testing.T) {
	t.Parallel()
	s, _ := filled()
	remotetest.Run(t, func(*testing.T) remote.Backend { return Backend(s) })
}
