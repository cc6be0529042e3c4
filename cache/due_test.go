package cache_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/bentobuild/bento/cache"
)

// A store that is within its bounds is left alone for a while, but not by who adds
// much to it, nor after something had to go.
func TestDue(t *testing.T) {
	s, _ := openDisk(t)
	large, small := cache.Bounds{MaxSize: 1 << 30}, cache.Bounds{MaxSize: 10 * 4096}
	due := func(s *cache.Disk, b cache.Bounds, want bool, when string) {
		t.Helper()
		if got := s.Due(b); got != want {
			t.Errorf("%s: due is %v, want %v", when, got, want)
		}
	}
	due(s, large, true, "nobody has looked")
	fill(t, s, 3)
	if _, err := s.Prune(t.Context(), large); err != nil {
		t.Fatal(err)
	}
	due(s, large, false, "within its bounds")
	due(s, small, true, "12 files of 10 were added by this one")
	other, err := cache.Open(filepath.Dir(s.Dir()), nil)
	if err != nil {
		t.Fatal(err)
	}
	due(other, small, false, "added by another")
	lock := filepath.Join(s.Dir(), "prune.lock")
	for _, at := range []time.Duration{-time.Hour, time.Hour} { // long ago, or by a clock that was wrong
		if err := os.Chtimes(lock, time.Time{}, time.Now().Add(at)); err != nil {
			t.Fatal(err)
		}
		due(other, large, true, at.String())
	}
	if n, err := s.Prune(t.Context(), small); err != nil || n.Records == 0 {
		t.Fatalf("%+v, %v", n, err)
	}
	due(other, large, true, "something was pruned")
}
