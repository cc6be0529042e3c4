//go:build !linux

package disk

import (
	"io"
	"os"
	"path/filepath"
)

// lstat sets all fields of e but its path, which is relative to root.
func lstat(root string, e *Entry) error {
	fi, err := os.Lstat(filepath.Join(root, filepath.FromSlash(e.Path)))
	if err == nil {
		e.fill(fi)
	}
	return err
}

// file is an open file.
type file struct{ *os.File }

// openFile opens root/path for reading. It follows no link in the last component.
func openFile(root, path string) (*file, error) {
	name := filepath.Join(root, filepath.FromSlash(path))
	fi, err := os.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !fi.Mode().IsRegular() {
		return nil, ErrKind
	}
	f, err := os.Open(name)
	return &file{f}, err
}

func (f *file) close() { f.Close() }

// stat sets all fields of e but its path.
func (f *file) stat(e *Entry) error {
	fi, err := f.Stat()
	if err != nil {
		return err
	}
	e.fill(fi)
	return nil
}

func (f *file) read(b []byte) (int, error) { return f.Read(b) }

func (f *file) rewind() error {
	_, err := f.Seek(0, io.SeekStart)
	return err
}
