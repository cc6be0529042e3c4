// Package owndir works in the directories that bento makes for itself: the state of a workspace and
// the cache.
//
// Other users, or the repository of a clone, may write to such a directory. So the package opens
// everything from an open directory, name by name: it follows no link, accepts only directories,
// and, where owners are checked, enters nothing of an untrusted owner. Every Dir has passed these
// checks.
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

// RefusedError is the reason why bento does not use a file or directory at the place of its own.
type RefusedError struct {
	Path   string // absolute
	Reason string // such as "it is a symbolic link"
	Wanted string // such as "a directory"
	Hint   string // what to do next
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("bento does not use %q: %s; expected %s", e.Path, e.Reason, e.Wanted)
}

// removeIt is the hint for a path in bento's way.
const removeIt = "remove it; bento then makes its own"

// Dir is an open directory of bento's own. Its methods take names of entries. It is safe for
// concurrent use.
type Dir struct {
	file    *rawfile.File
	trusted *owner.Trusted // nil: owners are not checked
}

// Open opens the directory at path, which the user has named or which is a workspace's root. It
// follows links and does not check the owner. Methods of the Dir check the owners of the entries that
// they open, unless trusted is nil.
func Open(path string, trusted *owner.Trusted) (*Dir, error) {
	f, err := rawfile.OpenDir(path)
	if rawfile.IsNotDir(err) {
		return nil, &RefusedError{Path: path, Reason: "it is " + kindOf(modeOf(os.Stat(path))), Wanted: "a directory", Hint: "name another directory, or remove this file"}
	}
	if err != nil {
		return nil, err
	}
	return &Dir{file: f, trusted: trusted}, nil
}

// OpenOwn opens a directory for files that bento keeps for the user outside of every workspace. It
// returns a *RefusedError if other users may write to it.
func OpenOwn(path string) (*Dir, error) {
	dir, err := Open(path, &owner.Trusted{})
	if err != nil {
		return nil, err
	}
	info, err := dir.Stat(".")
	if err == nil {
		err = dir.CheckOwner(owner.Trusted{})
	}
	if err == nil && info.Mode&0o022 != 0 {
		err = &RefusedError{Path: path, Reason: "other users may write to it", Wanted: "a directory that only you may write to", Hint: "chmod go-w " + owner.ShellWord(path)}
	}
	if err != nil {
		dir.Close()
		return nil, err
	}
	return dir, nil
}

// Below opens the directory at rel below d, with "/" between its elements. It makes missing ones if
// make is set.
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

// Enter opens the directory name. It returns a *RefusedError for anything else and for an untrusted
// owner, fs.ErrNotExist when it is missing and make is false, and an *owner.GuestError when the
// user may not make it.
func (d *Dir) Enter(name string, make bool) (*Dir, error) {
	f, err := d.file.OpenDirAt(name)
	if make && errors.Is(err, fs.ErrNotExist) {
		if err := d.guest(); err != nil {
			return nil, err
		}
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

// Check returns the error of Enter without making or opening anything. A missing directory is no
// error.
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

// CheckOwner returns a *RefusedError when the owner of the directory is not trusted.
func (d *Dir) CheckOwner(trusted owner.Trusted) error {
	info, err := d.file.Stat()
	if err != nil {
		return err
	}
	uid, ok := info.Owner()
	if !ok || trusted.TrustsUser(uid) {
		return nil
	}
	return &RefusedError{Path: d.Path(), Reason: "it belongs to " + owner.UserName(uid), Wanted: ownWanted}
}

// ownWanted names the required owners.
const ownWanted = "one of the user who runs bento, of root, or of the owner of the workspace's root directory"

// CheckFile returns a *RefusedError unless name is a regular file of a trusted owner. A missing
// file is no error.
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

// judge returns a *RefusedError for a file of an untrusted owner.
func (d *Dir) judge(name string, info rawfile.Info) error {
	if d.trusts(info) {
		return nil
	}
	reason := "another user owns it"
	if fi, err := os.Lstat(d.join(name)); err == nil {
		reason = "it belongs to " + owner.Name(fi)
	}
	err := d.refuse(name, reason, ownWanted)
	err.Hint = ownerHint(d.join(name))
	return err
}

// ownerHint returns the hint that removes a file of an untrusted owner. A user other than root may
// rename, but not empty, a directory of another user.
func ownerHint(path string) string {
	word := owner.ShellWord(path)
	if os.Geteuid() == 0 {
		return "remove it with: rm -r -- " + word + "; bento then makes its own"
	}
	return fmt.Sprintf("remove it with: sudo rm -r -- %s; without root move it away with: mv -- %s %s; bento then makes its own", word, word, owner.ShellWord(path+".theirs"))
}

// guest returns an *owner.GuestError when the owner of the workspace would not trust files that the
// user makes in the directory. A directory that the user owns needs no check.
func (d *Dir) guest() error {
	if d.trusted == nil {
		return nil
	}
	err := d.trusted.Guest()
	if err == nil {
		return nil
	}
	info, e := d.file.Stat()
	if uid, ok := info.Owner(); e == nil && ok && int(uid) == os.Geteuid() {
		return nil
	}
	return err
}

func (d *Dir) trusts(info rawfile.Info) bool {
	uid, ok := info.Owner()
	return d.trusted == nil || !ok || d.trusted.TrustsUser(uid)
}

func (d *Dir) refuse(name, reason, wanted string) *RefusedError {
	return &RefusedError{Path: d.join(name), Reason: reason, Wanted: wanted, Hint: removeIt}
}

func (d *Dir) join(name string) string { return filepath.Join(d.file.Name(), name) }

// Path returns the path of the directory for messages.
func (d *Dir) Path() string { return d.file.Name() }

// Close closes the directory.
func (d *Dir) Close() { d.file.Close() }

// Again opens the directory a second time as an *os.File.
func (d *Dir) Again() (*rawfile.File, error) { return d.file.Again() }

// Clone opens the directory a second time.
func (d *Dir) Clone() (*Dir, error) {
	f, err := d.file.Again()
	if err != nil {
		return nil, err
	}
	return &Dir{file: f, trusted: d.trusted}, nil
}

// Within reports whether path is in the directory root, under any name of root. It returns that name
// and the rest of the path.
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
			top, ok = dir, true // take the outermost: an inner link may lead to the root
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

// kindOf returns the kind of a file in words.
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
