package clone

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
)

// Create creates a new file, and missing directories above it. The umask reduces mode. It returns
// fs.ErrExist when the path exists, even as a link, and a *StrayError or *OutsideError when the path
// leads out of the clone.
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

// MkdirAll makes a directory and its missing parents, and returns its resolved path as Resolve
// does.
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

// Replace replaces a file, or creates it in an existing directory: a reader sees the old or the new
// content, whole. It replaces the target of a link inside the clone. An existing file keeps its
// mode; a new one gets mode, reduced by the umask. It returns an *IrregularError for anything but a
// file, and a *StrayError or *OutsideError when the path leads out of the clone.
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
	return e.swap(rel, data, mode, fi)
}

// Put writes one of bento's own files and replaces an existing file or link, not the target of the
// link. A reader sees the old or the new content, whole. It returns fs.ErrNotExist when the
// directory is missing, and a *StrayError or *OutsideError when the directory leads out of the
// clone.
func (c *Clone) Put(path string, data []byte, mode fs.FileMode) error {
	e, rel, err := c.place(path)
	if err != nil {
		return err
	}
	return e.swap(rel, data, mode, nil)
}

// Remove removes a file or link of bento's own, or an empty directory. It keeps the target of a
// link. It returns the same errors as Put.
func (c *Clone) Remove(path string) error {
	e, rel, err := c.place(path)
	if err != nil {
		return err
	}
	return e.root.Remove(rel)
}

// place returns the resolved path, except for a link as its last element.
func (c *Clone) place(path string) (e *ends, rel string, err error) {
	if rel, err = c.rel(path); err != nil {
		return nil, "", err
	}
	dir, err := c.Resolve(filepath.Dir(rel))
	if err != nil {
		return nil, "", err
	}
	e, err = c.open()
	return e, filepath.Join(dir, filepath.Base(rel)), err
}

// swap writes a file beside its place and renames it. The new file gets the mode of the old one, if
// old is not nil.
func (e *ends) swap(rel string, data []byte, mode fs.FileMode, was fs.FileInfo) (err error) {
	for range 100 {
		beside := filepath.Join(filepath.Dir(rel), ".bento-tmp-"+strconv.FormatUint(rand.Uint64(), 36))
		err = e.create(beside, data, mode)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err == nil && was != nil {
			err = e.root.Chmod(beside, was.Mode().Perm())
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

// create makes a complete file, or no file.
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
