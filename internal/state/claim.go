package state

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"strconv"

	"github.com/bentobuild/bento/internal/crash"
)

// Claim makes a file in the directory dir that is this process's until it is closed:
// then, or when the process dies, it is among what Abandoned gives.
func (d *Dir) Claim(dir string) (*os.File, error) {
	parent, err := d.Make(dir)
	if err != nil {
		return nil, err
	}
	for range 100 {
		crash.Point()
		name := filepath.Join(parent, strconv.FormatUint(rand.Uint64(), 36))
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o666)
		if err == nil {
			if err = tryLock(f); err == nil && isThere(f, name) {
				return f, nil
			}
			f.Close() // taken for abandoned before it was locked
		}
		if err != nil && !errors.Is(err, errLocked) && !errors.Is(err, fs.ErrExist) && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return nil, &fs.PathError{Op: "create", Path: parent, Err: fs.ErrExist}
}

func isThere(f *os.File, name string) bool {
	opened, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Lstat(name)
	return err == nil && os.SameFile(opened, there)
}

// Abandoned gives the names of the files in the directory dir that no process has
// claimed, such as "dir/name".
func (d *Dir) Abandoned(dir string) []string {
	entries, _ := os.ReadDir(d.Path(dir))
	var names []string
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		if e.Type().IsRegular() && !d.claimed(name) {
			names = append(names, name)
		}
	}
	return names
}

func (d *Dir) claimed(name string) bool {
	f, err := os.OpenFile(d.Path(name), os.O_RDWR|nonblock, 0)
	if err != nil {
		return !errors.Is(err, fs.ErrPermission) // one that is gone is nobody's business
	}
	defer f.Close()
	return tryLock(f) != nil
}
