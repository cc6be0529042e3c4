package verify

import (
	"context"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/bentobuild/bento/internal/tree"
)

// Copy copies files of the workspace at from to an empty directory. Their times are shifted.
func Copy(ctx context.Context, from, to string, files []tree.Entry, shift time.Duration) error {
	dirs := make(map[string]bool)
	for i := range files {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		e := &files[i]
		name, source := filepath.Join(to, filepath.FromSlash(e.Path)), filepath.Join(from, filepath.FromSlash(e.Path))
		if dir := filepath.Dir(name); !dirs[dir] {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				return err
			}
			dirs[dir] = true
		}
		if err := copyOne(source, name, e, shift); err != nil {
			return err
		}
	}
	return nil
}

func copyOne(source, name string, e *tree.Entry, shift time.Duration) error {
	if e.Kind == tree.Link {
		target, err := os.Readlink(source)
		if err != nil {
			return err
		}
		return os.Symlink(target, name)
	}
	if e.Kind != tree.File {
		return nil
	}
	in, err := os.OpenFile(source, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, fs.FileMode(e.Mode).Perm()|0o200)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if closed := out.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	at := time.Unix(0, e.Mtime).Add(shift)
	return os.Chtimes(name, at, at)
}
