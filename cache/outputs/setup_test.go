package outputs_test

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/cache/outputs"
	"github.com/bentobuild/bento/internal/rawfile"
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

// damage changes the content of a file of the store.
func damage(t *testing.T, path string, f func([]byte) []byte) {
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

// restore restores outputs as bento does. It stages in the directory stage, or in root if stage is "".
func restore(s cache.Store, root, stage string, want []cache.Output, o outputs.Options) (outputs.Stats, error) {
	r := outputs.NewRestorer(root, func() (*rawfile.File, error) {
		dir := cmp.Or(stage, root)
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return nil, err
		}
		return rawfile.OpenDir(dir)
	})
	defer r.Close()
	return r.Restore(s, want, o)
}
