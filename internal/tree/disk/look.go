package disk

import (
	"cmp"
	"errors"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Stat returns the current entry at a path relative to root, which may be a directory. It follows no
// link.
func Stat(root, path string) (Entry, error) {
	e := Entry{Path: path}
	if err := lstat(root, &e); err != nil {
		return Entry{}, err
	}
	return e, nil
}

// Readlink returns the target of the symbolic link at path, relative to root.
func Readlink(root, path string) (string, error) {
	return os.Readlink(filepath.Join(root, filepath.FromSlash(path)))
}

// Gone reports whether err means that a file was removed, or replaced by another kind, since its name
// was read.
func Gone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ELOOP)
}

// Bare removes the path from an error that is printed with it.
func Bare(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

// Ends returns the positions where the elements of path end.
func Ends(path string) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := range len(path) {
			if path[i] == '/' && !yield(i) {
				return
			}
		}
		if path != "" {
			yield(len(path))
		}
	}
}

// CompareDirs compares a and b as if both had "/" at the end: in this order a directory's entries
// come in the order of all paths below it.
func CompareDirs(a, b string) int {
	n := min(len(a), len(b))
	if c := strings.Compare(a[:n], b[:n]); c != 0 || len(a) == len(b) {
		return c
	}
	return cmp.Or(cmp.Compare(byteAt(a, n), byteAt(b, n)), cmp.Compare(len(a), len(b)))
}

func byteAt(s string, i int) byte {
	if i < len(s) {
		return s[i]
	}
	return '/'
}
