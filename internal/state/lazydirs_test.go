package state

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// Each new directory is empty and differs from those in use. A discarded one is removed or empty, and
// remove removes all.
func TestLazyDirs(t *testing.T) {
	d := Open(t.TempDir())
	next, remove := d.LazyDirs()
	var all sync.Map
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			path, discard, err := next()
			if err != nil {
				t.Error(err)
				return
			}
			if _, twice := all.LoadOrStore(path, true); twice {
				t.Errorf("%s is used twice", path)
			}
			if err := os.MkdirAll(filepath.Join(path, "a", "b"), 0o777); err != nil {
				t.Error(err)
			}
			if discard(false); exists(path) {
				t.Errorf("%s is left", path)
			}
		})
	}
	wg.Wait()
	path, discard, err := next()
	if err != nil {
		t.Fatal(err)
	}
	discard(true)
	again, discard, err := next()
	if err != nil || again != path {
		t.Errorf("got %s, want the empty %s again, %v", again, path, err)
	}
	if other, _, err := next(); err != nil || other == path {
		t.Errorf("%s is used twice at once, %v", path, err)
	}
	if err := os.WriteFile(filepath.Join(again, "left"), nil, 0o666); err != nil {
		t.Error(err)
	}
	if discard(true); exists(path) {
		t.Errorf("%s is kept with a file in it", path)
	}
	if remove(); exists(filepath.Dir(path)) {
		t.Errorf("%s is left", filepath.Dir(path))
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
