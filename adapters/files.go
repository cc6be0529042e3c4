package adapters

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
)

// MaxManifest is the largest manifest or lockfile that is read, in bytes.
const MaxManifest = 16 << 20

// Files reads a project's files for a built-in adapter and keeps what it was
// asked for, so that the answer can say its Reads. It is for one answer and one
// goroutine. Names are relative to its directory or absolute.
type Files struct {
	dir   string
	asked map[string]struct{}
	above []string // the directory and its ancestors, once they were asked for
}

// NewFiles gives a reader of the files in dir, an absolute path.
func NewFiles(dir string) *Files {
	return &Files{dir: dir, asked: make(map[string]struct{})}
}

// Dir is the directory that names are relative to.
func (f *Files) Dir() string { return f.dir }

// Path makes name absolute and notes that it was asked for.
func (f *Files) Path(name string) string {
	if !filepath.IsAbs(name) {
		name = filepath.Join(f.dir, name)
	}
	name = filepath.Clean(name)
	f.asked[name] = struct{}{}
	return name
}

// Read gives the content of a regular file of at most MaxManifest bytes. Where
// there is none the error is fs.ErrNotExist.
func (f *Files) Read(name string) ([]byte, error) {
	path := f.Path(name)
	// A pipe without a writer must not keep the reader waiting.
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	fi, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if !fi.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: not a regular file", path)
	}
	if fi.Size() > MaxManifest {
		return nil, fmt.Errorf("%s: larger than %d MiB", path, MaxManifest>>20)
	}
	data := bytes.NewBuffer(make([]byte, 0, fi.Size()+bytes.MinRead))
	if _, err := data.ReadFrom(io.LimitReader(file, MaxManifest+1)); err != nil {
		return nil, err
	}
	if data.Len() > MaxManifest {
		return nil, fmt.Errorf("%s: larger than %d MiB", path, MaxManifest>>20)
	}
	return data.Bytes(), nil
}

// ReadIfExists is Read, with nil content and no error where there is no file.
func (f *Files) ReadIfExists(name string) ([]byte, error) {
	data, err := f.Read(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return data, err
}

// IsFile tells whether name is a regular file, or a link to one.
func (f *Files) IsFile(name string) bool {
	fi, err := os.Stat(f.Path(name))
	return err == nil && fi.Mode().IsRegular()
}

// IsDir tells whether name is a directory, or a link to one.
func (f *Files) IsDir(name string) bool {
	fi, err := os.Stat(f.Path(name))
	return err == nil && fi.IsDir()
}

// List gives the names in a directory, sorted, none when it cannot be read.
func (f *Files) List(name string) []fs.DirEntry {
	entries, _ := os.ReadDir(f.Path(name))
	return entries
}

// Up gives the path of the nearest file with this name in the directory or above
// it. The last directory looked into is one that holds .git or bento.toml.
func (f *Files) Up(name string) (path string, ok bool) {
	for dir := range f.Ancestors() {
		if path := filepath.Join(dir, name); f.IsFile(path) {
			return path, true
		}
	}
	return "", false
}

// Ancestors yields the directory and those above it, up to and with the first
// that holds .git or bento.toml: no manifest above a repository is anybody's.
func (f *Files) Ancestors() func(yield func(dir string) bool) {
	if f.above == nil {
		for dir := f.dir; ; dir = filepath.Dir(dir) {
			f.above = append(f.above, dir)
			if isTop(dir) || dir == filepath.Dir(dir) {
				break
			}
		}
	}
	return slices.Values(f.above)
}

func isTop(dir string) bool {
	for _, mark := range []string{".git", "bento.toml"} {
		if _, err := os.Lstat(filepath.Join(dir, mark)); err == nil {
			return true
		}
	}
	return false
}

// Reads gives every path that was asked for, sorted.
func (f *Files) Reads() Reads {
	reads := make(Reads, 0, len(f.asked))
	for path := range f.asked {
		reads = append(reads, path)
	}
	slices.Sort(reads)
	return reads
}
