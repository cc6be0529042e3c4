package cache_test

import (
	"context"
	"errors"
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

func TestLookupStamps(t *testing.T) {
	s, _ := openDisk(t)
	if err := s.Record(cache.Key{1}, cachetest.Record(t, s, 1)); err != nil {
		t.Fatal(err)
	}
	all := append(entries(t, s, "records"), entries(t, s, "blobs")...)
	age(t, all, time.Hour)
	if _, err := s.Lookup(cache.Key{1}); err != nil {
		t.Fatal(err)
	}
	for _, path := range all {
		if used(t, path) < time.Hour {
			t.Errorf("%s: stamped again after an hour", path)
		}
	}
	age(t, all, 48*time.Hour)
	if _, err := s.Lookup(cache.Key{1}); err != nil {
		t.Fatal(err)
	}
	for _, path := range all {
		if used(t, path) > time.Hour {
			t.Errorf("%s: not stamped after two days", path)
		}
	}
	age(t, all, 48*time.Hour)
	if err := os.Remove(entries(t, s, "blobs")[0]); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Lookup(cache.Key{1}); !errors.Is(err, cache.ErrMiss) {
		t.Errorf("lookup of an old record without its blob: %v, want ErrMiss", err)
	}
}

func fill(t *testing.T, s *cache.Disk, n int) {
	t.Helper()
	for i := range n {
		if err := s.Record(cache.Key{byte(i), byte(i >> 8)}, cachetest.Record(t, s, i)); err != nil {
			t.Fatal(err)
		}
	}
}

// hits gives the records that are there; all their blobs must be too.
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
		for _, d := range []cache.Digest{r.Log, r.Recording, r.Outputs[1].Digest} {
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
	for _, i := range []byte{3, 5, 8} { // used again
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
	if want := (cache.Removed{Records: 17, Blobs: 68, Bytes: 85 * 4096}); err != nil || n != want {
		t.Errorf("by size: %+v, %v, want %+v", n, err, want)
	}
	if got := hits(t, s, 20); !cmp.Equal(got, []int{3, 5, 8}) {
		t.Errorf("left: %v", got)
	}
	age(t, append(entries(t, s, "records"), entries(t, s, "blobs")...), time.Hour)
	if n, err := s.Prune(t.Context(), cache.Bounds{MaxAge: time.Minute}); err != nil || n.Records != 3 || n.Blobs != 12 {
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

// Under a deadline every call gets nearer to the bound, and what is left is whole.
func TestPruneInPieces(t *testing.T) {
	s, _ := openDisk(t)
	const n = 300
	fill(t, s, n)
	age(t, append(entries(t, s, "records"), entries(t, s, "blobs")...), 48*time.Hour)
	for i := range byte(10) {
		if _, err := s.Lookup(cache.Key{i}); err != nil {
			t.Fatal(err)
		}
	}
	for range 5000 {
		ctx, cancel := context.WithTimeout(t.Context(), 4*time.Millisecond)
		_, err := s.Prune(ctx, cache.Bounds{MaxAge: 24 * time.Hour})
		cancel()
		if err != nil && !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		if st, err := s.Stats(t.Context()); err != nil || st.Blobs == 40 && st.Records == 10 {
			break
		}
	}
	if got := hits(t, s, n); !cmp.Equal(got, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}) {
		t.Errorf("left: %v", got)
	}
}

func TestPruneUnderUse(t *testing.T) {
	s, warned := openDisk(t)
	stop := make(chan struct{})
	var pruner sync.WaitGroup
	pruner.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				if _, err := s.Prune(t.Context(), cache.Bounds{MaxSize: 30 * 4096}); err != nil {
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
				// A blob may be pruned before its record is there.
				if err := s.Record(key, cachetest.Record(t, s, 100*u+i)); err != nil && !errors.Is(err, cache.ErrMiss) {
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
	if c, err := s.Fsck(t.Context()); err != nil || c.Damaged != 0 {
		t.Errorf("%+v, %v", c, err)
	}
}

// A prune that ends in the middle, because its time is over, leaves no record that
// whoever comes next takes for a hit although a blob of it is gone; and fsck has nothing
// to say. One that looks at everything then cleans up.
func TestPruneHalf(t *testing.T) {
	const n = 300
	s, _ := openDisk(t)
	fill(t, s, n)
	age(t, append(entries(t, s, "records"), entries(t, s, "blobs")...), 48*time.Hour)
	later := func() *cache.Disk {
		next, err := cache.Open(filepath.Dir(s.Dir()), nil)
		if err != nil {
			t.Fatal(err)
		}
		return next
	}
	halves := 0
	for range 500 {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Millisecond)
		removed, _ := s.Prune(ctx, cache.Bounds{MaxAge: 24 * time.Hour})
		cancel()
		if removed.Blobs == 0 {
			continue
		}
		halves++
		if got := hits(t, later(), n); len(got) > 0 {
			t.Errorf("%d records are hits, some of which have lost blobs", len(got))
		}
		if c, err := later().Fsck(t.Context()); err != nil || c.Damaged+c.Incomplete > 0 {
			t.Errorf("fsck: %+v, %v", c, err)
		}
		if halves == 3 {
			break
		}
	}
	fill(t, s, 10)
	if _, err := s.Prune(t.Context(), cache.Bounds{MaxAge: 24 * time.Hour}); err != nil {
		t.Fatal(err)
	}
	if st, err := s.Stats(t.Context()); err != nil || st.Records != 10 || st.Blobs != 40 {
		t.Errorf("%+v, %v", st, err)
	}
	if _, err := os.Stat(filepath.Join(s.Dir(), "whole")); err == nil {
		t.Error("all is whole, and nothing says so")
	}
	if got := hits(t, later(), n); len(got) != 10 {
		t.Errorf("left: %v", got)
	}
}
