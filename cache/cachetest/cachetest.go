// Package cachetest is the conformance test of cache.Store. Every store passes it.
package cachetest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/cache"
)

// Run tests the stores that open returns. Each call of open returns a new, empty store.
func Run(t *testing.T, open func(t *testing.T) cache.Store) {
	RunBlobs(t, open)
	for name, test := range map[string]func(*testing.T, cache.Store){
		"Records":       testRecords,
		"ReplaceRecord": testReplaceRecord,
		"InvalidRecord": testInvalidRecord,
		"RecordIsACopy": testRecordIsACopy,
		"ManyAtOnce":    testManyAtOnce,
	} {
		t.Run(name, func(t *testing.T) { test(t, open(t)) })
	}
}

// RunBlobs is the part of Run that tests blobs alone.
func RunBlobs(t *testing.T, open func(t *testing.T) cache.Store) {
	for name, test := range map[string]func(*testing.T, cache.Store){
		"Miss":           testMiss,
		"Blobs":          testBlobs,
		"PartialRead":    testPartialRead,
		"WrongDigest":    testWrongDigest,
		"FailingReader":  testFailingReader,
		"SameBlobAtOnce": testSameBlobAtOnce,
	} {
		t.Run(name, func(t *testing.T) { test(t, open(t)) })
	}
}

// Blobs returns contents on both sides of the size limits that stores tend to have.
func Blobs() map[string][]byte {
	random := []byte(Noise(3 << 20))
	blobs := map[string][]byte{"empty": {}}
	for _, size := range []int{1, 4095, 4096, 4097, 65536, 131071, 131072, 131073, 1 << 20, 3 << 20} {
		blobs[fmt.Sprintf("random %d", size)] = random[:size]
		blobs[fmt.Sprintf("zeros %d", size)] = make([]byte, size)
	}
	blobs["text"] = []byte(strings.Repeat("the same line, over and over\n", 50_000))
	blobs["text, then random"] = append(bytes.Clone(blobs["text"]), random[:1<<20]...)
	blobs["random, then text"] = append(bytes.Clone(random[:1<<20]), blobs["text"]...)
	return blobs
}

// Noise returns bytes that cannot be compressed, the same ones on each call.
func Noise(size int) string {
	b := make([]byte, size)
	rand.NewChaCha8([32]byte{3, 4}).Read(b) // not a number for each byte: the race detector looks at each
	return string(b)
}

// Add adds data to s and returns its digest.
func Add(t testing.TB, s cache.Store, data []byte) cache.Digest {
	t.Helper()
	d := cache.Sum(data)
	if err := s.Add(d, bytes.NewReader(data)); err != nil {
		t.Fatalf("add %d bytes: %v", len(data), err)
	}
	return d
}

func read(s cache.Store, d cache.Digest) ([]byte, error) {
	r, err := s.Open(d)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}

func testMiss(t *testing.T, s cache.Store) {
	if r, err := s.Lookup(cache.Key{1}); !errors.Is(err, cache.ErrMiss) {
		t.Errorf("lookup: %v, %v, want ErrMiss", r, err)
	}
	if _, err := s.Open(cache.Digest{1}); !errors.Is(err, cache.ErrMiss) {
		t.Errorf("open: %v, want ErrMiss", err)
	}
}

func testBlobs(t *testing.T, s cache.Store) {
	for name, data := range Blobs() {
		d := Add(t, s, data)
		Add(t, s, data) // again
		got, err := read(s, d)
		if err != nil || !bytes.Equal(got, data) {
			t.Errorf("%s: %d bytes, %v, want %d", name, len(got), err, len(data))
		}
	}
}

func testPartialRead(t *testing.T, s cache.Store) {
	for name, data := range Blobs() {
		r, err := s.Open(Add(t, s, data))
		if err != nil {
			t.Fatal(err)
		}
		half := make([]byte, len(data)/2)
		if _, err := io.ReadFull(r, half); err != nil || !bytes.Equal(half, data[:len(half)]) {
			t.Errorf("%s: half of it: %v", name, err)
		}
		if err := r.Close(); err != nil {
			t.Errorf("%s: close: %v", name, err)
		}
		if got, err := read(s, cache.Sum(data)); err != nil || !bytes.Equal(got, data) {
			t.Errorf("%s: after a partial read: %d bytes, %v", name, len(got), err)
		}
	}
}

func testWrongDigest(t *testing.T, s cache.Store) {
	for _, data := range []string{"not that", strings.Repeat("not that", 1_000), strings.Repeat("not that", 100_000)} {
		d := cache.Sum([]byte(data + "x"))
		if err := s.Add(d, strings.NewReader(data)); err == nil {
			t.Errorf("%d bytes of another digest were added", len(data))
		}
		if err := s.Add(d, cache.Hash([]byte(data))); err == nil {
			t.Errorf("%d bytes with another digest were added", len(data))
		}
		if _, err := s.Open(d); !errors.Is(err, cache.ErrMiss) {
			t.Errorf("open after that: %v, want ErrMiss", err)
		}
		if got, err := read(s, Add(t, s, []byte(data+"x"))); err != nil || string(got) != data+"x" {
			t.Errorf("the right one after that: %v", err)
		}
	}
}

func testFailingReader(t *testing.T, s cache.Store) {
	broken := errors.New("broken")
	for _, size := range []int{0, 10, 1 << 20} {
		data := bytes.Repeat([]byte("x"), size)
		d := cache.Sum(data)
		r := io.MultiReader(bytes.NewReader(data), iotest.ErrReader(broken))
		if err := s.Add(d, r); !errors.Is(err, broken) {
			t.Errorf("add of a reader that fails after %d bytes: %v, want its error", size, err)
		}
		if _, err := s.Open(d); !errors.Is(err, cache.ErrMiss) {
			t.Errorf("open after that: %v, want ErrMiss", err)
		}
	}
}

// Record returns a record with every field set, and adds its blobs to s.
func Record(t testing.TB, s cache.Store, n int) *cache.Record {
	t.Helper()
	blob := func(name string) cache.Digest { return Add(t, s, fmt.Appendf(nil, "%s %d", name, n)) }
	return &cache.Record{
		Outputs: []cache.Output{
			{Path: "dist", Kind: cache.Dir, Mode: 0o755},
			{Path: "dist/a", Kind: cache.File, Mode: 0o644, Digest: blob("a"), Size: int64(len(fmt.Sprintf("a %d", n)))},
			{Path: "dist/b", Kind: cache.File, Mode: 0o755, Digest: blob("b"), Size: int64(len(fmt.Sprintf("b %d", n)))},
			{Path: "dist/\xff\n", Kind: cache.Link, Target: "a"},
		},
		Exit: n % 3, Log: blob("log"), LogSize: int64(n), Pack: blob("recording"), Ingredients: cache.Digest{1},
		Small:   map[cache.Digest][]byte{cache.Sum([]byte("small")): []byte("small")},
		Created: time.Unix(int64(n), 5).UTC(), Duration: time.Duration(n) * time.Millisecond, Host: "here",
	}
}

func testRecords(t *testing.T, s cache.Store) {
	for n := range 5 {
		if err := s.Record(cache.Key{byte(n), 7}, Record(t, s, n)); err != nil {
			t.Fatal(err)
		}
	}
	for n := range 5 {
		got, err := s.Lookup(cache.Key{byte(n), 7})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(Record(t, s, n), got); diff != "" {
			t.Errorf("record %d, -want +got:\n%s", n, diff)
		}
	}
	if _, err := s.Lookup(cache.Key{0, 8}); !errors.Is(err, cache.ErrMiss) {
		t.Errorf("another key: %v, want ErrMiss", err)
	}
}

func testReplaceRecord(t *testing.T, s cache.Store) {
	for n := range 2 {
		if err := s.Record(cache.Key{}, Record(t, s, n)); err != nil {
			t.Fatal(err)
		}
	}
	got, err := s.Lookup(cache.Key{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Record(t, s, 1), got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func testInvalidRecord(t *testing.T, s cache.Store) {
	out := func(outputs ...cache.Output) *cache.Record { return &cache.Record{Outputs: outputs} }
	dir := func(path string) cache.Output { return cache.Output{Path: path, Kind: cache.Dir} }
	for name, r := range map[string]*cache.Record{
		"absolute":     out(dir("/etc")),
		"out":          out(dir("../x")),
		"git":          out(dir("a/.git/hooks")),
		"unsorted":     out(dir("b"), dir("a")),
		"twice":        out(dir("a"), dir("a")),
		"no kind":      out(cache.Output{Path: "a"}),
		"below a link": out(cache.Output{Path: "a", Kind: cache.Link, Target: "b"}, dir("a/b")),
		"setuid":       out(cache.Output{Path: "a", Kind: cache.Dir, Mode: 0o4755}),
	} {
		if err := s.Record(cache.Key{}, r); err == nil {
			t.Errorf("%s: recorded", name)
		}
		if _, err := s.Lookup(cache.Key{}); !errors.Is(err, cache.ErrMiss) {
			t.Errorf("%s: lookup after that: %v, want ErrMiss", name, err)
		}
	}
}

func testRecordIsACopy(t *testing.T, s cache.Store) {
	r := Record(t, s, 1)
	if err := s.Record(cache.Key{}, r); err != nil {
		t.Fatal(err)
	}
	r.Outputs[0].Path = "changed"
	got, err := s.Lookup(cache.Key{})
	if err != nil {
		t.Fatal(err)
	}
	got.Outputs[0].Path = "changed"
	if got, err = s.Lookup(cache.Key{}); err != nil || got.Outputs[0].Path != "dist" {
		t.Errorf("%v, %v: shares memory with the caller's", got, err)
	}
}

func testManyAtOnce(t *testing.T, s cache.Store) {
	var wg sync.WaitGroup
	for n := range 8 {
		wg.Go(func() {
			for m := range 10 {
				key := cache.Key{byte(n * m)}
				if r := Record(t, s, n*m); s.Record(key, r) != nil {
					t.Errorf("record %d failed", n*m)
				}
				got, err := s.Lookup(key)
				if err != nil {
					t.Errorf("lookup: %v", err)
					continue
				}
				if data, err := read(s, got.Outputs[1].Digest); err != nil || string(data) != fmt.Sprintf("a %d", n*m) {
					t.Errorf("%q, %v", data, err)
				}
			}
		})
	}
	wg.Wait()
}

func testSameBlobAtOnce(t *testing.T, s cache.Store) {
	for name, data := range Blobs() {
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				if got, err := read(s, Add(t, s, data)); err != nil || !bytes.Equal(got, data) {
					t.Errorf("%s: %d bytes, %v", name, len(got), err)
				}
			})
		}
		wg.Wait()
	}
}
