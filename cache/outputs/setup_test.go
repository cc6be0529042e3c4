package outputs_test

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/bentobuild/bento/cache"
)

// openDisk returns an empty store and the damage that it reports.
func openDisk(t testing.TB) (*cache.Disk, *[]error) {
	t.Helper()
	var mu sync.Mutex
	damage := &[]error{}
	d, err := cache.Open(filepath.Join(t.TempDir(), "cache"), &cache.Options{Warn: func(err error) {
		mu.Lock()
		defer mu.Unlock()
		*damage = append(*damage, err)
	}})
	if err != nil {
		t.Fatal(err)
	}
	return d, damage
}

// blobFiles returns the files of the blobs of a store.
func blobFiles(t testing.TB, d *cache.Disk) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(d.Dir(), "blobs", "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// spoil changes what a file of a store holds.
func spoil(t *testing.T, path string, f func([]byte) []byte) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err == nil {
		err = errors.Join(os.Remove(path), os.WriteFile(path, f(data), 0o444))
	}
	if err != nil {
		t.Fatal(err)
	}
}

func cutByOne(b []byte) []byte { return b[:len(b)-1] }
