package cache_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/cache/cachetest"
)

func age(t *testing.T, paths []string, by time.Duration) {
	t.Helper()
	then := time.Now().Add(-by)
	for _, path := range paths {
		if err := os.Chtimes(path, then, then); err != nil {
			t.Fatal(err)
		}
	}
}

func used(t *testing.T, path string) time.Duration {
	t.Helper()
	fi, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return time.Since(fi.ModTime())
}

// A hit of a recent record does not touch its files. A hit of an older record sets the modification times
// of the record and its blobs.
func TestUseStamps(t *testing.T) {
	s, _ := openDisk(t)
	if err := s.Record(cache.Key{1}, cachetest.Record(t, s, 1)); err != nil {
		t.Fatal(err)
	}
	records, blobs := entries(t, s, "records"), entries(t, s, "blobs")
	age(t, append(records, blobs...), time.Hour)
	if !s.Has(cache.Key{1}) {
		t.Error("a recent record is missing")
	}
	if _, err := s.Lookup(cache.Key{1}); err != nil {
		t.Error(err)
	}
	for _, path := range append(records, blobs...) {
		if used(t, path) < time.Hour {
			t.Errorf("%s: it was stamped for nothing", path)
		}
	}
	age(t, append(records, blobs...), 48*time.Hour)
	if s.Has(cache.Key{1}) {
		t.Error("after two days the blobs were not looked at")
	}
	if _, err := s.Lookup(cache.Key{1}); err != nil {
		t.Fatal(err)
	}
	for _, path := range append(records, blobs...) {
		if used(t, path) > time.Hour {
			t.Errorf("%s: not stamped after two days", path)
		}
	}
	age(t, records, 48*time.Hour)
	if err := os.Remove(blobs[0]); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Lookup(cache.Key{1}); !errors.Is(err, cache.ErrMiss) {
		t.Errorf("lookup of an old record without its blob: %v, want ErrMiss", err)
	}
}

// reopen returns the store for another process, while s has not settled.
func reopen(t *testing.T, s *cache.Disk) *cache.Disk {
	t.Helper()
	d, err := cache.Open(filepath.Dir(s.Dir()), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	return d
}

func fill(t *testing.T, s *cache.Disk, n int) {
	t.Helper()
	for i := range n {
		if err := s.Record(cache.Key{byte(i), byte(i >> 8)}, cachetest.Record(t, s, i)); err != nil {
			t.Fatal(err)
		}
	}
}

// hits returns the records that exist. All their blobs must exist, too.
func hits(t *testing.T, s *cache.Disk, n int) (there []int) {
	t.Helper()
	for i := range n {
		r, err := s.Lookup(cache.Key{byte(i), byte(i >> 8)})
		if errors.Is(err, cache.ErrMiss) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		there = append(there, i)
		for _, d := range []cache.Digest{r.Log, r.Pack, r.Outputs[1].Digest} {
			b, err := s.Open(d)
			if err != nil {
				t.Errorf("record %d: %v", i, err)
				continue
			}
			b.Close()
		}
	}
	return there
}

func TestPrune(t *testing.T) {
	s, _ := openDisk(t)
	fill(t, s, 20)
	if n, err := s.Prune(t.Context(), cache.Bounds{}); err != nil || n != (cache.Removed{}) {
		t.Errorf("without bounds: %+v, %v", n, err)
	}
	all := append(entries(t, s, "records"), entries(t, s, "blobs")...)
	age(t, all, 48*time.Hour)
	s = reopen(t, s)
	for _, i := range []byte{3, 5, 8} { // used again; the bound fits these and one other
		if _, err := s.Lookup(cache.Key{i}); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := s.Prune(t.Context(), cache.Bounds{MaxAge: 72 * time.Hour}); err != nil || n != (cache.Removed{}) {
		t.Errorf("nothing is that old: %+v, %v", n, err)
	}
	if n, err := s.Prune(t.Context(), cache.Bounds{MaxSize: 1 << 20}); err != nil || n != (cache.Removed{}) {
		t.Errorf("it is not that large: %+v, %v", n, err)
	}
	n, err := s.Prune(t.Context(), cache.Bounds{MaxSize: 20 * 4096})
	if want := (cache.Removed{Records: 16, Blobs: 64, Bytes: 80 * 4096}); err != nil || n != want {
		t.Errorf("by size: %+v, %v, want %+v", n, err, want)
	}
	if got := hits(t, s, 20); !cmp.Equal(got, []int{0, 3, 5, 8}) {
		t.Errorf("left: %v", got)
	}
	age(t, append(entries(t, s, "records"), entries(t, s, "blobs")...), time.Hour)
	if err := os.Remove(filepath.Join(s.Dir(), "used")); err != nil {
		t.Fatal(err)
	}
	s = reopen(t, s)
	if n, err := s.Prune(t.Context(), cache.Bounds{MaxAge: time.Minute}); err != nil || n.Records != 4 || n.Blobs != 16 {
		t.Errorf("by age: %+v, %v", n, err)
	}
}

func TestPruneTmp(t *testing.T) {
	s, _ := openDisk(t)
	fill(t, s, 1)
	old, young := filepath.Join(s.Dir(), "tmp", "old"), filepath.Join(s.Dir(), "tmp", "young")
	if err := errors.Join(os.WriteFile(old, nil, 0o666), os.WriteFile(young, nil, 0o666)); err != nil {
		t.Fatal(err)
	}
	age(t, []string{old}, 2*time.Hour)
	if _, err := s.Prune(t.Context(), cache.Bounds{}); err != nil {
		t.Fatal(err)
	}
	if got := entries(t, s, "tmp"); !cmp.Equal(got, []string{young}) {
		t.Errorf("left: %q", got)
	}
}

// A record has all its blobs, even if Prune evicts while processes write records that share blobs.
func TestPruneUnderUse(t *testing.T) {
	for _, blocks := range []int64{2, 30} {
		t.Run(fmt.Sprint(blocks), func(t *testing.T) { pruneUnderUse(t, blocks*4096) })
	}
}

func pruneUnderUse(t *testing.T, size int64) {
	s, warned := openDisk(t)
	stop := make(chan struct{})
	var pruner sync.WaitGroup
	pruner.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				if _, err := s.Prune(t.Context(), cache.Bounds{MaxSize: size}); err != nil {
					t.Error(err)
				}
			}
		}
	})
	var users sync.WaitGroup
	for u := range 4 {
		users.Go(func() {
			for i := range 50 {
				key := cache.Key{byte(u), byte(i)}
				// A blob may be evicted before its record is stored.
				if err := s.Record(key, cachetest.Record(t, s, 100*(u/2)+i)); err != nil && !errors.Is(err, cache.ErrMiss) {
					t.Error(err)
				}
				if _, err := s.Lookup(key); err != nil && !errors.Is(err, cache.ErrMiss) {
					t.Error(err)
				}
			}
		})
	}
	users.Wait()
	close(stop)
	pruner.Wait()
	if len(*warned) != 0 {
		t.Errorf("damage: %v", *warned)
	}
	if c, err := s.Fsck(t.Context()); err != nil || c.Damaged+c.Incomplete != 0 {
		t.Errorf("%+v, %v", c, err)
	}
}

// large adds a result with one blob that cannot be compressed.
func large(t *testing.T, s *cache.Disk, n, size int) cache.Key {
	t.Helper()
	data := make([]byte, size)
	rand.NewChaCha8([32]byte{byte(n), byte(n >> 8), 1}).Read(data)
	key := cache.Key{byte(n), byte(n >> 8), 1}
	out := cache.Output{Path: "a", Kind: cache.File, Digest: cachetest.Add(t, s, data), Size: int64(size)}
	if err := s.Record(key, &cache.Record{Outputs: []cache.Output{out}, Created: time.Now()}); err != nil {
		t.Fatal(err)
	}
	return key
}

// If only one of two results fits, the newer one stays complete, and the other is removed.
func TestPruneKeepsWhatFits(t *testing.T) {
	s, _ := openDisk(t)
	large(t, s, 1, 3<<20)
	second := large(t, s, 2, 3<<20)
	n, err := s.Prune(t.Context(), cache.Bounds{MaxSize: 5 << 20})
	if want := (cache.Removed{Records: 1, Blobs: 1, Bytes: 3<<20 + 4096}); err != nil || n != want {
		t.Errorf("%+v, %v, want %+v", n, err, want)
	}
	if _, err := s.Lookup(second); err != nil {
		t.Error(err)
	}
	if st, err := s.Stats(t.Context()); err != nil || st.Records != 1 || st.Blobs != 1 {
		t.Errorf("%+v, %v", st, err)
	}
}

// Several processes that add at the same time keep the bound. They exceed it by at most the results that
// they are adding.
func TestKeep(t *testing.T) {
	const bound, users, size = 20 << 20, 4, 1 << 20
	first, _ := openDisk(t)
	var group sync.WaitGroup
	for u := range users {
		s, err := cache.Open(filepath.Dir(first.Dir()), &cache.Options{Bounds: cache.Bounds{MaxSize: bound}})
		if err != nil {
			t.Fatal(err)
		}
		group.Go(func() {
			for i := range 15 {
				large(t, s, u*15+i, size)
				if err := s.PruneToBounds(t.Context()); err != nil {
					t.Error(err)
				}
				if st, err := s.Stats(t.Context()); err != nil || st.Bytes > bound+users*(size+2*4096) {
					t.Errorf("%d bytes, %v: more than %d and what %d users are about to add", st.Bytes, err, bound, users)
				}
			}
		})
	}
	group.Wait()
	if st, err := first.Stats(t.Context()); err != nil || st.Bytes > bound || st.Bytes < bound/2 {
		t.Errorf("in the end: %+v, %v", st, err)
	}
}

// PruneToBounds does not list a store while added results fit, and does not list a large store for each
// result that does not fit.
func TestKeepSeldomLists(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	open := func(bound int64) *cache.Disk {
		s, err := cache.Open(dir, &cache.Options{Bounds: cache.Bounds{MaxSize: bound}})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	listed := func(s *cache.Disk) string { // the time in the tally
		if err := s.PruneToBounds(t.Context()); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(filepath.Join(s.Dir(), "tally"))
		if err != nil || len(data) != 16 {
			t.Fatalf("%q, %v", data, err)
		}
		return string(data[8:])
	}
	const n = 600 // results of 5 files
	s := open(1 << 40)
	fill(t, s, 1)
	first := listed(s)
	for i := range n {
		if err := s.Record(cache.Key{byte(i), byte(i >> 8)}, cachetest.Record(t, s, i)); err != nil {
			t.Fatal(err)
		}
		if i%50 == 0 && listed(s) != first {
			t.Fatal("listed below the bound")
		}
	}
	st, err := s.Stats(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s = open(st.Bytes)
	times := map[string]bool{}
	for i := range n / 20 { // a twentieth of the store
		large(t, s, i, 4*4096)
		times[listed(s)] = true
	}
	if len(times) > 3 {
		t.Errorf("listed %d times while a twentieth was added", len(times))
	}
}

// A result without one of its blobs can never be restored. Prune removes it even if everything fits.
func TestPruneRemovesWhatLacksABlob(t *testing.T) {
	s, _ := openDisk(t)
	broken, whole := large(t, s, 1, 8192), large(t, s, 2, 8192)
	r, err := s.Lookup(broken)
	if err != nil {
		t.Fatal(err)
	}
	sum := r.Outputs[0].Digest.String()
	found, err := filepath.Glob(filepath.Join(s.Dir(), "blobs", sum[:2], sum[2:]+"*"))
	if err != nil || len(found) != 1 {
		t.Fatalf("%q, %v", found, err)
	}
	if err := os.Remove(found[0]); err != nil {
		t.Fatal(err)
	}
	n, err := s.Prune(t.Context(), cache.Bounds{MaxSize: 1 << 30})
	if n.Records != 1 || n.Blobs != 0 || err != nil {
		t.Errorf("%+v, %v", n, err)
	}
	if _, err := s.Lookup(whole); err != nil {
		t.Error(err)
	}
}
