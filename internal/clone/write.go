package clone

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
)

// Create makes a file that is not there yet, and the directories that it lies in.
// mode is reduced by the umask. The error is fs.ErrExist where something is, also a
// link, and a *StrayError or *OutsideError where the path leads out of the clone.
func (c *Clone) Create(path string, data []byte, mode fs.FileMode) error {
	rel, err := c.rel(path)
	if err != nil {
		return err
	}
	dir, err := c.MkdirAll(filepath.Dir(rel))
	if err != nil {
		return err
	}
	e, err := c.open()
	if err != nil {
		return err
	}
	return e.create(filepath.Join(dir, filepath.Base(rel)), data, mode)
}

// MkdirAll makes a directory, and those that it lies in, and returns where it is as
// Resolve does.
func (c *Clone) MkdirAll(path string) (dir string, err error) {
	if dir, err = c.Resolve(path); err != nil {
		return "", err
	}
	e, err := c.open()
	if err != nil {
		return "", err
	}
	return dir, e.root.MkdirAll(dir, 0o777)
}

// Replace replaces a file, or makes it in a directory that is there: a reader sees
// the old content or the new one, whole. Of a link in the clone it replaces what that
// leads to. A file keeps its mode; that of a new one is mode, reduced by the umask. The
// error is an *IrregularError where something else than a file is, and a *StrayError or
// *OutsideError where the path leads out of the clone.
func (c *Clone) Replace(path string, data []byte, mode fs.FileMode) error {
	rel, err := c.Resolve(path)
	if err != nil {
		return err
	}
	e, err := c.open()
	if err != nil {
		return err
	}
	fi, err := e.root.Lstat(rel)
	if err == nil && !fi.Mode().IsRegular() {
		return &IrregularError{path, fi.IsDir()}
	}
	for range 100 {
		beside := filepath.Join(filepath.Dir(rel), ".bento-tmp-"+strconv.FormatUint(rand.Uint64(), 36))
		err = e.create(beside, data, mode)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err == nil && fi != nil {
			err = e.root.Chmod(beside, fi.Mode().Perm())
		}
		if err == nil {
			err = e.root.Rename(beside, rel)
		}
		if err != nil {
			_ = e.root.Remove(beside)
		}
		return err
	}
	return err
}

// create makes one file whole, or none.
func (e *ends) create(rel string, data []byte, mode fs.FileMode) error {
	f, err := e.root.OpenFile(rel, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err != nil {
		_ = e.root.Remove(rel)
	}
	return err
}
