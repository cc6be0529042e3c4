package cache_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/cache/cachetest"
)

// A small blob is stored in the record only, and is read back from it.
func TestWith(t *testing.T) {
	s, _ := openDisk(t)
	small, large := []byte("small"), bytes.Repeat([]byte("large "), 1000)
	r := &cache.Record{Log: cache.Sum(small)}
	both := r.With(s)
	for _, data := range [][]byte{small, nil, large, small} {
		if err := both.Add(cache.Sum(data), bytes.NewReader(data)); err != nil {
			t.Fatal(err)
		}
	}
	if got := entries(t, s, "blobs"); len(got) != 1 {
		t.Errorf("blobs: %q, want that of the large one", got)
	}
	key := cache.Key{1}
	if err := s.Record(key, r); err != nil {
		t.Fatal(err)
	}
	back, err := s.Lookup(key)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[cache.Digest][]byte{cache.Sum(small): small, cache.Sum(nil): {}}, back.Small); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	for _, data := range [][]byte{small, nil, large} {
		f, err := back.With(s).Open(cache.Sum(data))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(f); err != nil || !bytes.Equal(got, data) {
			t.Errorf("%d bytes, %v, want %d", len(got), err, len(data))
		}
		f.Close()
	}
	if _, err := back.With(s).Open(cache.Digest{7}); !errors.Is(err, cache.ErrMiss) {
		t.Errorf("of nothing: %v", err)
	}
}

// The small blobs of a record are bounded, and a blob must have its digest.
func TestWithBounds(t *testing.T) {
	s, _ := openDisk(t)
	r := &cache.Record{}
	both := r.With(s)
	for i := range 100 {
		data := []byte(strings.Repeat(string(rune('a'+i)), 1000))
		if err := both.Add(cache.Sum(data), bytes.NewReader(data)); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(r.Small); n != 16 || len(entries(t, s, "blobs")) != 84 {
		t.Errorf("%d in the record, %d outside", n, len(entries(t, s, "blobs")))
	}
	var digest *cache.DigestError
	if err := (&cache.Record{}).With(s).Add(cache.Sum([]byte("a")), strings.NewReader("b")); !errors.As(err, &digest) {
		t.Errorf("another content: %v", err)
	}
	if err := s.Record(cache.Key{2}, &cache.Record{Small: map[cache.Digest][]byte{{1}: make([]byte, 20<<10)}}); err == nil {
		t.Error("a record of 20 KiB of small blobs was stored")
	}
}

// The Store of a record passes the tests of any Store of blobs.
func TestWithIsAStore(t *testing.T) {
	cachetest.RunBlobs(t, func(t *testing.T) cache.Store {
		s, _ := openDisk(t)
		return (&cache.Record{}).With(s)
	})
}
