// Package owndir works in the directories that bento makes for itself: the state of a
// workspace and the cache.
//
// Such a directory may lie where others write, a clone of a stranger first of all. So
// everything in it is reached from a directory that is open, name by name: no link is
// followed, what is no directory is none, and where owners are checked nothing of a
// stranger's is entered. A Dir is the only way in, and whoever has one has been checked.
package owndir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/bentobuild/bento/internal/owner"
	"github.com/bentobuild/bento/internal/rawfile"
)

// RefusedError says that bento does not use what lies in the place of something of its
// own.
type RefusedError struct {
	Path   string // absolute
	Reason string // such as "it is a symbolic link"
	Wanted string // such as "a directory"
	Hint   string // what to do next
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("bento does not use %q: %s; expected %s", e.Path, e.Reason, e.Wanted)
}

// removeIt is what helps where something lies in bento's way.
const removeIt = "remove it, and bento makes its own"

// Dir is an open directory of bento's own. Its methods take names of what lies in it. It
// is safe for concurrent use.
type Dir struct {
	file    *rawfile.File
	trusted *owner.Trusted // nil: owners are not checked
}

// Open opens the directory at path, which the user has named or which is a workspace's
// root: links on its way are followed. It is not checked who owns it. Of what is entered
// from it, owners are checked unless trusted is nil.
func Open(path string, trusted *owner.Trusted) (*Dir, error) {
	f, err := rawfile.OpenDir(path)
	if rawfile.IsNotDir(err) {
		return nil, &RefusedError{Path: path, Reason: "it is " + kindOf(modeOf(os.Stat(path))), Wanted: "a directory", Hint: "name another directory, or remove what lies there"}
	}
	if err != nil {
		return nil, err
	}
	return &Dir{file: f, trusted: trusted}, nil
}

// Below opens the directory at rel below d, which has "/" between its elements. Missing
// ones are made when make says so.
func (d *Dir) Below(rel string, make bool) (*Dir, error) {
	var last *Dir
	for name := range strings.SplitSeq(rel, "/") {
		next, err := d.Enter(name, make)
		if last != nil {
			last.Close()
		}
		if err != nil {
			return nil, err
		}
		d, last = next, next
	}
	return d, nil
}

// Enter opens the directory name. The error is a *RefusedError for what is none and for
// that of a stranger, fs.ErrNotExist when there is none and none is to be made.
func (d *Dir) Enter(name string, make bool) (*Dir, error) {
	f, err := d.file.OpenDirAt(name)
	if make && errors.Is(err, fs.ErrNotExist) {
		if err := d.file.MkdirAt(name, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		f, err = d.file.OpenDirAt(name)
	}
	if rawfile.IsNotDir(err) {
		info, _ := d.file.LstatAt(name)
		return nil, d.refuse(name, "it is "+kindOf(info.Mode), "a directory")
	}
	if err != nil {
		return nil, err
	}
	if d.trusted != nil {
		info, err := f.Stat()
		if err == nil {
			err = d.judge(name, info)
		}
		if err != nil {
			f.Close()
			return nil, err
		}
	}
	return &Dir{file: f, trusted: d.trusted}, nil
}

// Check returns the error of Enter, without making or opening anything. What is missing
// is no error.
func (d *Dir) Check(name string) error {
	info, err := d.file.LstatAt(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.IsDir():
		return d.refuse(name, "it is "+kindOf(info.Mode), "a directory")
	}
	return d.judge(name, info)
}

// CheckFile returns a *RefusedError for what lies in the place of the file name and is no
// regular file, or a stranger's. What is missing is no error.
func (d *Dir) CheckFile(name string) error {
	info, err := d.file.LstatAt(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.Mode.IsRegular():
		return d.refuse(name, "it is "+kindOf(info.Mode), "a regular file")
	}
	return d.judge(name, info)
}

// judge returns a *RefusedError for what belongs to a stranger.
func (d *Dir) judge(name string, info rawfile.Info) error {
	if d.trusts(info) {
		return nil
	}
	reason := "it belongs to somebody else"
	if fi, err := os.Lstat(d.join(name)); err == nil {
		reason = "it belongs to " + owner.Name(fi)
	}
	return d.refuse(name, reason, "one of the user who runs bento, of root, or of the owner of the workspace's root directory")
}

func (d *Dir) trusts(info rawfile.Info) bool {
	uid, ok := info.Owner()
	return d.trusted == nil || !ok || d.trusted.TrustsUser(uid)
}

func (d *Dir) refuse(name, reason, wanted string) error {
	return &RefusedError{Path: d.join(name), Reason: reason, Wanted: wanted, Hint: removeIt}
}

func (d *Dir) join(name string) string { return filepath.Join(d.file.Name(), name) }

// Path returns where the directory is, for messages.
func (d *Dir) Path() string { return d.file.Name() }

// Close closes the directory.
func (d *Dir) Close() { d.file.Close() }

// Again opens the directory once more, for those who put files where they are told.
func (d *Dir) Again() (*rawfile.File, error) { return d.file.Again() }

// Clone opens the directory once more.
func (d *Dir) Clone() (*Dir, error) {
	f, err := d.file.Again()
	if err != nil {
		return nil, err
	}
	return &Dir{file: f, trusted: d.trusted}, nil
}

// Within finds out whether path lies in the directory root, by whatever name of root,
// and returns what of it is below.
func Within(root, path string) (top, rel string, ok bool) {
	if root == "" {
		return "", "", false
	}
	want, err := os.Stat(root)
	if err != nil {
		return "", "", false
	}
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		if fi, err := os.Stat(dir); err == nil && os.SameFile(fi, want) {
			top, ok = dir, true // the outermost counts: a link inside may lead to the root
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	rel, err = filepath.Rel(top, path)
	return top, filepath.ToSlash(rel), ok && err == nil
}

func modeOf(fi fs.FileInfo, err error) fs.FileMode {
	if err != nil {
		return fs.ModeIrregular
	}
	return fi.Mode()
}

// kindOf says in words what a file is.
func kindOf(mode fs.FileMode) string {
	switch mode.Type() {
	case 0:
		return "a regular file"
	case fs.ModeDir:
		return "a directory"
	case fs.ModeSymlink:
		return "a symbolic link"
	case fs.ModeNamedPipe:
		return "a named pipe"
	case fs.ModeSocket:
		return "a socket"
	}
	return "a special file"
}
