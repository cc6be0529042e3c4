package remote_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/cache/cachetest"
	"github.com/bentobuild/bento/cache/remote"
	"github.com/bentobuild/bento/cache/remote/remotetest"
)

// A full disk is a fault of this machine, and nothing stays of what was fetched.
func TestFullDisk(t *testing.T) {
	for _, size := range []int{400 << 10, remote.StageSize + 1000} {
		w := newWorld(t, remotetest.Noise(size))
		disk, err := cache.Open(cachetest.SmallDisk(t), nil)
		if err != nil {
			t.Fatal(err)
		}
		_, err = remotetest.Get(t.Context(), remote.OverBackend(w.server, w.options()), disk, w.key)
		var local *remote.LocalError
		if !errors.As(err, &local) {
			t.Errorf("%d bytes: %v, want a LocalError", size, err)
		}
		if left, err := os.ReadDir(filepath.Join(disk.Dir(), "tmp")); err != nil || len(left) > 0 {
			t.Errorf("%d bytes: left in tmp: %v, %v", size, left, err)
		}
		if _, err := disk.Lookup(w.key); !errors.Is(err, cache.ErrMiss) {
			t.Errorf("%d bytes: lookup: %v", size, err)
		}
		disk.Close()
	}
}
