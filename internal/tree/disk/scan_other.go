//go:build !linux

package disk

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Root is a directory where Readers start. It is safe for concurrent use.
type Root struct {
	path string
}

func OpenRoot(root string) (*Root, error) {
	f, err := os.OpenFile(root, os.O_RDONLY|syscall.O_DIRECTORY, 0)
	if err != nil {
		return nil, err
	}
	return &Root{path: root}, f.Close()
}

func (p *Root) Close() {}

// Stat sets all fields of e but its path, which is relative to the directory.
func (p *Root) Stat(e *Entry) error { return lstat(p.path, e) }

// ListStamp returns false: it is unknown whether a directory always gets a new time.
func ListStamp(string) (s Stamp, settled bool) { return s, false }

// IsThere returns true: each call opens the directory by its path.
func (p *Root) IsThere() bool { return true }

// Reader reads one directory at a time.
type Reader struct {
	root  *Root
	dir   string // absolute
	names []byte
	Items []Item
}

func (p *Root) Reader() *Reader { return &Reader{root: p} }

// Open opens the directory rel, "" for the root. It follows no link in the last element. dev is the
// known file system of the directory, else 0.
func (s *Reader) Open(rel string, dev uint64) error {
	s.dir = filepath.Join(s.root.path, filepath.FromSlash(rel))
	if rel == "" {
		return nil
	}
	fi, err := os.Lstat(s.dir)
	if err == nil && !fi.IsDir() {
		return fs.ErrNotExist
	}
	return err
}

func (s *Reader) Close() {}

// List reads the names of the open directory.
func (s *Reader) List() error {
	s.names, s.Items = s.names[:0], s.Items[:0]
	all, err := os.ReadDir(s.dir)
	for _, d := range all {
		s.Items = append(s.Items, Item{off: uint32(len(s.names)), len: uint32(len(d.Name())), Kind: kindOf(d.Type())})
		s.names = append(s.names, d.Name()...)
	}
	return err
}

// Stat sets all fields of e but its path.
func (s *Reader) Stat(it *Item, e *Entry) error { return s.StatName(string(s.Name(it)), e) }

// StatName is Stat for a name that may be unlisted.
func (s *Reader) StatName(name string, e *Entry) error {
	fi, err := os.Lstat(filepath.Join(s.dir, name))
	if err != nil {
		return err
	}
	e.fill(fi)
	return nil
}

// StatBelow is StatPath for a path in a directory of the file system dev.
func (s *Reader) StatBelow(rel string, _ uint64, e *Entry) error { return s.StatPath(rel, e) }

// StatPath is Stat for a path relative to the root, "" for the root itself.
func (s *Reader) StatPath(rel string, e *Entry) error {
	fi, err := os.Lstat(filepath.Join(s.root.path, filepath.FromSlash(rel)))
	if err != nil {
		return err
	}
	e.fill(fi)
	return nil
}

// StatSelf is Stat for the open directory itself.
func (s *Reader) StatSelf(e *Entry) error { return s.StatName("", e) }

// Read returns the content of a regular file of the open directory, "" when there is none. It
// ignores a link, as git does.
func (s *Reader) Read(name string, limit int64) (string, error) {
	path := filepath.Join(s.dir, name)
	if fi, err := os.Lstat(path); err != nil || !fi.Mode().IsRegular() {
		return "", nil
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // it may have become a pipe
	if err != nil {
		return "", err
	}
	defer f.Close()
	return ReadRegular(f, limit)
}
