package tree

import (
	"os"
	"path/filepath"
)

// Stat looks at one path, relative to root, now. It follows no link. Directories
// have an entry too.
func Stat(root, path string) (Entry, error) {
	fi, err := os.Lstat(filepath.Join(root, filepath.FromSlash(path)))
	if err != nil {
		return Entry{}, err
	}
	e := Entry{Path: path}
	e.fill(fi)
	return e, nil
}

// Readlink gives what the symbolic link at an entry says.
func (t *Tree) Readlink(e Entry) (string, error) {
	return os.Readlink(filepath.Join(t.root, filepath.FromSlash(e.Path)))
}
