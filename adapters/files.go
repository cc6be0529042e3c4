package adapters

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// MaxManifest is the largest manifest or lockfile that is read, in bytes.
const MaxManifest = 16 << 20

// Files reads a project's files for a built-in adapter and keeps what it was
// asked for, so that the answer can say its Reads. It is for one answer and one
// goroutine. Names are relative to its directory or absolute.
type Files struct {
	dir    string
	asked  map[string]struct{}
	above  []string // the directory and those above it, as far as they were asked for
	topped bool     // there are no more
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
	data, err := readRegular(path)
	if err != nil {
		return nil, err
	}
	if len(data) > MaxManifest {
		return nil, fmt.Errorf("%s: larger than %d MiB", path, MaxManifest>>20)
	}
	return data, nil
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
	return func(yield func(dir string) bool) {
		for i := 0; f.ascend(i) && yield(f.above[i]); i++ {
		}
	}
}

// ascend looks for the directory i above, where it has not yet, and tells whether
// there is one.
func (f *Files) ascend(i int) bool {
	n := len(f.above)
	if i < n {
		return true
	}
	if n == 0 {
		f.above = append(f.above, f.dir)
		return true
	}
	last := f.above[n-1]
	f.topped = f.topped || isTop(last) || last == filepath.Dir(last)
	if !f.topped {
		f.above = append(f.above, filepath.Dir(last))
	}
	return !f.topped
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
