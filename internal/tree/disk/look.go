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

// Stat looks at one path, relative to root, now. It follows no link. Directories
// have an entry too.
func Stat(root, path string) (Entry, error) {
	e := Entry{Path: path}
	if err := lstat(root, &e); err != nil {
		return Entry{}, err
	}
	return e, nil
}

// Readlink gives what the symbolic link at path, relative to root, says.
func Readlink(root, path string) (string, error) {
	return os.Readlink(filepath.Join(root, filepath.FromSlash(path)))
}

// Gone tells whether err says that a file was removed, or replaced by something of
// another kind, since its name was read.
func Gone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ELOOP)
}

// Bare takes the path off an error that is about to be printed with it.
func Bare(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

// Ends gives the positions where the components of path end.
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

// CompareDirs compares a and b as if both had "/" behind: so the list of a
// directory's entries and that of everything below it are in one order.
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
