package state

import (
	"os"
	"path"

	"github.com/bentobuild/bento/internal/owndir"
	"github.com/bentobuild/bento/internal/rawfile"
)

// Fresh is a file that is made only when it is needed. It is not for concurrent use.
type Fresh struct {
	d    *Dir
	name string
	dir  *owndir.Dir // the directory of the file; nil if it was missing, or is no longer needed
}

// Fresh removes the file name, and keeps its directory open for Create. The caller calls Close.
func (d *Dir) Fresh(name string) *Fresh {
	f := &Fresh{d: d, name: name}
	dir, base, err := d.at(name, false)
	if err == nil {
		_ = dir.Remove(base) // if it cannot be removed, it cannot be made either
		f.dir = dir
	}
	return f
}

// Create makes the file for reading and writing, as Dir.Create does.
func (f *Fresh) Create() (*os.File, error) {
	defer f.Close()
	if f.dir != nil && f.isThere() {
		if file, err := f.dir.Create(path.Base(f.name), 0o666); err == nil {
			return file.Std(), nil
		}
	}
	return f.d.Create(f.name)
}

// isThere reports whether the open directory is still in its place.
func (f *Fresh) isThere() bool {
	now, err := rawfile.Lstat(f.d.Shown(path.Dir(f.name)))
	if err != nil {
		return false
	}
	open, err := f.dir.Stat(".")
	return err == nil && rawfile.Same(now, open)
}

// Close closes the directory, not the file.
func (f *Fresh) Close() {
	if f.dir != nil {
		f.dir.Close()
		f.dir = nil
	}
}
