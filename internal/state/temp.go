package state

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/bentobuild/bento/internal/crash"
)

// tempDir holds what is made beside its final place.
const tempDir = "tmp"

// A temporary file without an owner is one that a killed process left.
const tempAge = time.Hour

// Temp makes an empty directory for files on their way to their place in the
// workspace, on the same file system. remove deletes it with all it holds. Those of
// processes that died are deleted by the next Temp or Sweep of any process.
func (d *Dir) Temp() (dir string, remove func(), err error) {
	parent, err := d.Make(tempDir)
	if err != nil {
		return "", nil, err
	}
	d.Sweep()
	for range 100 {
		dir = filepath.Join(parent, strconv.FormatUint(rand.Uint64(), 36))
		lock, err := claim(dir)
		if err == nil {
			return dir, func() { crash.Point(); _ = os.RemoveAll(dir); lock.Close() }, nil
		}
		if !errors.Is(err, errLocked) && !errors.Is(err, fs.ErrExist) && !errors.Is(err, fs.ErrNotExist) {
			return "", nil, err
		}
	}
	return "", nil, &fs.PathError{Op: "mkdir", Path: dir, Err: fs.ErrExist}
}

// LazyTemp is Temp for who may need no directory: the first call of open makes it. remove
// comes when no open is running or to come.
func (d *Dir) LazyTemp() (open func() (string, error), remove func()) {
	away := func() {}
	open = sync.OnceValues(func() (dir string, err error) {
		dir, remove, err := d.Temp()
		if err == nil {
			away = remove
		}
		return dir, err
	})
	return open, sync.OnceFunc(func() { away() })
}

// claim makes dir and locks it. A sweeper may come between the two; then the
// directory is gone or its lock is taken, and the caller takes another name.
func claim(dir string) (*os.File, error) {
	crash.Point()
	if err := os.Mkdir(dir, 0o777); err != nil {
		return nil, err
	}
	f, err := lockDir(dir)
	if err != nil {
		return nil, err
	}
	here, err := os.Lstat(dir)
	if err == nil {
		var locked fs.FileInfo
		if locked, err = f.Stat(); err == nil && !os.SameFile(here, locked) {
			err = fs.ErrNotExist
		}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Sweep deletes the temporary files that killed processes left in the directory.
// What it cannot delete stays.
func (d *Dir) Sweep() {
	if fi, err := os.Lstat(d.path); err != nil || !fi.IsDir() {
		return
	}
	sweepFiles(d.path)
	parent := d.Path(tempDir)
	sweepFiles(parent)
	entries, _ := os.ReadDir(parent)
	for _, e := range entries {
		if e.IsDir() {
			sweepDir(filepath.Join(parent, e.Name()))
		}
	}
}

func sweepDir(path string) {
	if lock, err := lockDir(path); err == nil {
		crash.Point()
		_ = os.RemoveAll(path)
		lock.Close()
	}
}

func sweepFiles(dir string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), tempPrefix) {
			continue
		}
		if fi, err := e.Info(); err == nil && time.Since(fi.ModTime()) > tempAge {
			crash.Point()
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}
