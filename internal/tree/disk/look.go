package disk

import (
	"errors"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"syscall"
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
