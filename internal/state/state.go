// Package state keeps what bento remembers about one workspace between runs: the
// directory <root>/.bento.
//
// Everything in it can be deleted at any time and is then made again. It holds
// its own .gitignore, so that no project has to name it in theirs. Files are
// replaced whole (written beside, renamed), carry the version of their format and
// a checksum, and count as absent when either does not fit: nobody ever has to
// repair one. A directory that cannot be written is an error value; callers turn
// it into a warning and go on without memory.
package state

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/bentobuild/bento/internal/crash"
)

// Name is the directory's name under the workspace root.
const Name = ".bento"

// Dir is the state of one workspace. It is safe for concurrent use, also by
// several processes.
type Dir struct {
	path string
}

// Open gives the state of the workspace at root, an absolute path. It does no
// I/O: the directory is made by the first write.
func Open(root string) *Dir { return &Dir{path: filepath.Join(root, Name)} }

// Path gives the absolute path of name, which is relative and uses "/". It makes
// nothing.
func (d *Dir) Path(name string) string {
	return filepath.Join(d.path, filepath.FromSlash(name))
}

// Make makes the directory name, and those above it, and gives its path. "."
// is the state directory itself.
func (d *Dir) Make(name string) (string, error) {
	if err := checkName(name); err != nil {
		return "", err
	}
	path := d.Path(name)
	if fi, err := os.Lstat(path); err == nil && fi.IsDir() && name != "." {
		return path, nil
	}
	if err := d.makeSelf(); err != nil {
		return "", err
	}
	crash.Point()
	if err := os.MkdirAll(path, 0o777); err != nil {
		return "", err
	}
	return path, nil
}

// makeSelf makes the directory and its .gitignore. A link in its place is refused:
// a repository that holds one could otherwise choose what bento overwrites.
func (d *Dir) makeSelf() error {
	crash.Point()
	if err := os.Mkdir(d.path, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	fi, err := os.Lstat(d.path)
	if err != nil {
		return err
	}
	if !fi.IsDir() {
		return &fs.PathError{Op: "mkdir", Path: d.path, Err: syscall.ENOTDIR}
	}
	ignore := filepath.Join(d.path, ".gitignore")
	if _, err := os.Lstat(ignore); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return WriteFile(ignore, []byte("*\n"), 0o666)
}

// Remove removes the file name. It is no error when there is none.
func (d *Dir) Remove(name string) error {
	if err := checkName(name); err != nil {
		return err
	}
	crash.Point()
	if err := os.Remove(d.Path(name)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func checkName(name string) error {
	if !fs.ValidPath(name) || strings.Contains(name, "\x00") {
		return fmt.Errorf("state file %q: not a clean relative path", name)
	}
	return nil
}
