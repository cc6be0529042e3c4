//go:build unix

package cache_test

import (
	"bytes"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/bentobuild/bento/cache"
)

// TestWaitingForPrune: a process that waits long for another process's prune reports the path of the lock,
// once. Then it gives up.
func TestWaitingForPrune(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		var told []string
		s, err := cache.Open(dir, &cache.Options{Waiting: func(lock string) { told = append(told, lock) }})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		prune := func() {
			t.Helper()
			if _, err := s.Prune(t.Context(), cache.Bounds{MaxSize: 1}); err != nil {
				t.Fatal(err)
			}
		}
		blob := []byte("x")
		if err := s.Add(cache.Sum(blob), bytes.NewReader(blob)); err != nil {
			t.Fatal(err)
		}
		prune()
		path := filepath.Join(s.Dir(), "prune.lock")
		f, err := os.Open(path)
		if err == nil {
			defer f.Close()
			err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
		}
		if err != nil || len(told) > 0 {
			t.Fatalf("%v, told %q, want nothing", err, told)
		}
		prune()
		if len(told) != 1 || told[0] != path {
			t.Errorf("told %q, want %q once", told, path)
		}
	})
}
