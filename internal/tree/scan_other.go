//go:build !linux

package tree

import (
	"io/fs"
	"os"
	"path/filepath"
)

// place is the root that scanners start from. It is safe for concurrent use.
type place struct {
	path string
}

func openPlace(root string) (*place, error) {
	f, err := os.Open(root)
	if err != nil {
		return nil, err
	}
	return &place{path: root}, f.Close()
}

func (p *place) close() {}

// scanner reads one directory at a time.
type scanner struct {
	place *place
	dir   string // absolute
	names []byte
	items []item
}

func (p *place) scanner() *scanner { return &scanner{place: p} }

// open opens the directory rel, "" for the root, and follows no link in its last
// component.
func (s *scanner) open(rel string) error {
	s.dir = filepath.Join(s.place.path, filepath.FromSlash(rel))
	if rel == "" {
		return nil
	}
	fi, err := os.Lstat(s.dir)
	if err == nil && !fi.IsDir() {
		return fs.ErrNotExist
	}
	return err
}

func (s *scanner) close() {}

// list reads the names of the open directory.
func (s *scanner) list() error {
	s.names, s.items = s.names[:0], s.items[:0]
	all, err := os.ReadDir(s.dir)
	for _, d := range all {
		s.items = append(s.items, item{off: uint32(len(s.names)), len: uint32(len(d.Name())), kind: kindOf(d.Type())})
		s.names = append(s.names, d.Name()...)
	}
	return err
}

// stat sets all of e but its path.
func (s *scanner) stat(it *item, e *Entry) error {
	fi, err := os.Lstat(filepath.Join(s.dir, string(s.name(it))))
	if err != nil {
		return err
	}
	e.fill(fi)
	return nil
}

// read reads a regular file of the open directory, "" when there is none. A link
// is none, as for git.
func (s *scanner) read(name string, limit int64) (string, error) {
	path := filepath.Join(s.dir, name)
	if fi, err := os.Lstat(path); err != nil || !fi.Mode().IsRegular() {
		return "", nil
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	return readRegular(f, limit)
}
