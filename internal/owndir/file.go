package owndir

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"strconv"
	"time"

	"github.com/bentobuild/bento/internal/rawfile"
)

// Stat returns the information about name. It does not follow a link.
func (d *Dir) Stat(name string) (rawfile.Info, error) { return d.file.LstatAt(name) }

// Names lists the directory, in no order.
func (d *Dir) Names() ([]fs.DirEntry, error) { return d.file.ReadDir() }

// IsEmpty reports whether the directory, of which nothing was read before, is empty.
func (d *Dir) IsEmpty() bool {
	names, err := d.file.ReadNames()
	return err == nil && len(names) == 0
}

// Open opens the regular file name for reading. It returns fs.ErrNotExist for any other kind of
// file and for one of an untrusted owner: bento has not written those.
func (d *Dir) Open(name string) (*rawfile.File, rawfile.Info, error) {
	f, err := d.file.OpenAt(name)
	if rawfile.IsNotDir(err) || rawfile.IsSpecial(err) { // a link, or a socket
		return nil, rawfile.Info{}, d.absent(name)
	}
	if err != nil {
		return nil, rawfile.Info{}, err
	}
	info, err := f.Stat()
	if err == nil && (!info.Mode.IsRegular() || !d.trusts(info)) {
		err = d.absent(name)
	}
	if err != nil {
		f.Close()
		return nil, info, err
	}
	return f, info, nil
}

func (d *Dir) absent(name string) error {
	return &fs.PathError{Op: "open", Path: d.join(name), Err: fs.ErrNotExist}
}

// Create makes the file name. It returns an error when name exists.
func (d *Dir) Create(name string, perm fs.FileMode) (*rawfile.File, error) {
	if err := d.guest(); err != nil {
		return nil, err
	}
	return d.file.CreateAt(name, perm)
}

// Private is the mode of a file that bento locks: a user who can read a file can lock it for ever.
const Private fs.FileMode = 0o600

// Update opens the regular file name for reading and writing, and makes a missing one. It sets the
// mode of a file of its own. own reports whether the caller may write to it: a file with a second
// hard link may be anyone's. Update returns a *RefusedError for any other kind of file.
func (d *Dir) Update(name string, mode fs.FileMode) (f *rawfile.File, own bool, err error) {
	if err = d.guest(); err != nil {
		return nil, false, err
	}
	f, err = d.file.UpdateAt(name, mode)
	if err != nil {
		if info, e := d.file.LstatAt(name); e == nil && !info.Mode.IsRegular() {
			err = d.refuse(name, "it is "+kindOf(info.Mode), "a regular file")
		}
		return nil, false, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode.IsRegular() {
		err = d.refuse(name, "it is "+kindOf(info.Mode), "a regular file")
	}
	if err == nil {
		err = d.judge(name, info)
	}
	if err != nil {
		f.Close()
		return nil, false, err
	}
	own = info.Links() <= 1
	if own && info.Mode.Perm() != mode && isMine(info) {
		_ = f.Chmod(mode) // an older bento has made it, or the umask has cleared bits
	}
	return f, own, nil
}

func isMine(info rawfile.Info) bool {
	uid, ok := info.Owner()
	return ok && int64(uid) == int64(os.Geteuid())
}

// SharedMode returns the mode of files that every user may lock who may write to the directory.
func (d *Dir) SharedMode() fs.FileMode {
	const group = 0o060
	if info, err := d.file.Stat(); err == nil && info.Mode&0o020 != 0 {
		return Private | group
	}
	return Private
}

// Touch sets the modification time of the regular file name to now, unless it has a second hard
// link, which may be anyone's. It reports whether there is such a file.
func (d *Dir) Touch(name string, now time.Time) bool {
	info, err := d.file.LstatAt(name)
	if err != nil || !info.Mode.IsRegular() {
		return false
	}
	if info.Links() <= 1 {
		_ = d.file.TouchAt(name, now) // the user may lack the permission
	}
	return true
}

// Link makes the symbolic link name.
func (d *Dir) Link(target, name string) error {
	if err := d.guest(); err != nil {
		return err
	}
	return d.file.SymlinkAt(target, name)
}

// Remove removes the file or link name, not the target of a link.
func (d *Dir) Remove(name string) error { return d.file.RemoveAt(name, false) }

// RemoveEmpty removes the directory name if it is empty.
func (d *Dir) RemoveEmpty(name string) error { return d.file.RemoveAt(name, true) }

// Move moves the file name to newName in the directory to, and replaces anything but a directory.
func (d *Dir) Move(name string, to *Dir, newName string) error {
	return d.file.RenameAt(name, to.file, newName)
}

// MoveOver is Move to a file that bento can make again: after a power cut it may be empty.
func (d *Dir) MoveOver(name string, to *Dir, newName string) error {
	return d.file.ReplaceAt(name, to.file, newName)
}

// TempPrefix is the start of the name of every file that Replace makes beside its target.
const TempPrefix = ".bento-tmp-"

// Replace replaces the file at name: readers see the old or the new one, whole. It replaces a link
// and does not follow it. It returns an error for a directory. It does not wait for the disk: after
// a power cut the file may be empty.
func (d *Dir) Replace(name string, parts ...[]byte) error {
	return d.ReplaceAs(name, 0o666, parts...)
}

// ReplaceAs is Replace with a mode, which the umask reduces.
func (d *Dir) ReplaceAs(name string, perm fs.FileMode, parts ...[]byte) error {
	return d.replace(name, perm, func(temp string) error { return d.file.ReplaceAt(temp, d.file, name) }, func(f *rawfile.File) error {
		return writeAll(f, parts)
	})
}

// ReplaceSynced is ReplaceAs for a file that bento cannot make again: after a power cut the old or
// the new file exists.
func (d *Dir) ReplaceSynced(name string, perm fs.FileMode, data []byte) error {
	return d.replace(name, perm, func(temp string) error { return d.file.RenameAt(temp, d.file, name) }, func(f *rawfile.File) error {
		if err := writeAll(f, [][]byte{data}); err != nil {
			return err
		}
		return f.Sync()
	})
}

func writeAll(f *rawfile.File, parts [][]byte) error {
	for _, p := range parts {
		if _, err := f.Write(p); err != nil {
			return err
		}
	}
	return nil
}

// replace makes a file beside name, calls write with it, and moves it to name.
func (d *Dir) replace(name string, perm fs.FileMode, move func(temp string) error, write func(*rawfile.File) error) error {
	if err := d.guest(); err != nil {
		return err
	}
	var f *rawfile.File
	temp, err := d.fresh(func(name string) (err error) {
		f, err = d.file.CreateAt(name, perm)
		return err
	})
	if err != nil {
		return err
	}
	err = write(f)
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = move(temp)
	}
	if err != nil {
		_ = d.file.RemoveAt(temp, false)
	}
	return err
}

// fresh calls create with random names until one is unused.
func (d *Dir) fresh(create func(name string) error) (name string, err error) {
	for range 100 {
		name = TempPrefix + RandomName()
		if err = create(name); !errors.Is(err, fs.ErrExist) {
			return name, err
		}
	}
	return "", err
}

// RandomName returns a unique name.
func RandomName() string { return strconv.FormatUint(rand.Uint64(), 36) }

// IsRandomName reports whether RandomName may have returned name.
func IsRandomName(name string) bool {
	n, err := strconv.ParseUint(name, 36, 64)
	return err == nil && strconv.FormatUint(n, 36) == name
}
