package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// ErrStalls says that git would never finish reading the repository.
var ErrStalls = errors.New("git would wait for it for ever")

// below are the directories of a repository that git reads for the queries. It reads no others,
// such as hooks or the directories of submodules and other work trees.
var below = [...]string{"info", "refs", "logs", "objects", "reftable"}

// stalls returns an error for a named pipe or a device in the directories of the repository: git
// would wait for it.
func (r *Repo) stalls() error {
	for _, dir := range []string{r.dir, r.common} {
		entries, _ := os.ReadDir(dir) // git reports unreadable directories
		for _, e := range entries {
			if err := stalling(filepath.Join(dir, e.Name()), e.Type()); err != nil {
				return err
			}
		}
		for _, name := range below {
			err := filepath.WalkDir(filepath.Join(dir, name), func(path string, e fs.DirEntry, err error) error {
				if err != nil {
					return nil
				}
				return stalling(path, e.Type())
			})
			if err != nil {
				return err
			}
		}
		if r.dir == r.common {
			break
		}
	}
	return nil
}

// stallsInTree does the same for the files that git reads in the work tree's directories with
// tracked files.
func (r *Repo) stallsInTree(ctx context.Context, tracked *Files) error {
	seen := make(map[string]bool)
	var look func(dir string) error
	look = func(dir string) error { // "" or "a/b"
		if seen[dir] {
			return nil
		}
		seen[dir] = true
		for _, name := range []string{".gitignore", ".gitattributes", ".gitmodules"} {
			path := filepath.Join(r.top, filepath.FromSlash(dir), name)
			if fi, err := os.Lstat(path); err != nil {
				continue
			} else if err := stalling(path, fi.Mode().Type()); err != nil {
				return err
			}
		}
		if dir == "" {
			return nil
		}
		return look(above(dir))
	}
	err := look("")
	for i := 0; i < tracked.Len() && err == nil; i++ {
		if err = ctx.Err(); err == nil {
			err = look(above(tracked.Path(i)))
		}
	}
	return err
}

// above returns the directory of a path, "" for the top level.
func above(path string) string { return path[:max(0, strings.LastIndexByte(path, '/'))] }

// stalling returns an error for a path that may block its reader for ever.
func stalling(path string, kind fs.FileMode) error {
	if kind == fs.ModeSymlink {
		fi, err := os.Stat(path)
		if err != nil {
			return nil // a broken link
		}
		kind = fi.Mode().Type()
	}
	if kind&(fs.ModeNamedPipe|fs.ModeDevice) == 0 {
		return nil
	}
	return fmt.Errorf("%q is a named pipe or a device, required a regular file: %w", path, ErrStalls)
}

// readBounded returns the content of a regular file. It waits for no pipe.
func readBounded(path string, limit int64) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !fi.Mode().IsRegular() || fi.Size() > limit {
		return nil, fmt.Errorf("%q: not a regular file of at most %d bytes", path, limit)
	}
	return readAll(f, fi.Size(), limit)
}

// readAll reads a file to its end. size is its approximate size; a writer may change it meanwhile.
func readAll(f *os.File, size, limit int64) ([]byte, error) {
	var b bytes.Buffer
	b.Grow(int(size) + bytes.MinRead)
	n, err := b.ReadFrom(io.LimitReader(f, limit+1))
	if err == nil && n > limit {
		err = fmt.Errorf("%q: grew beyond %d bytes", f.Name(), limit)
	}
	return b.Bytes(), err
}
