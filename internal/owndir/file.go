package owndir

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/bentobuild/bento/internal/rawfile"
)

// Stat says what name is. A link is not followed.
func (d *Dir) Stat(name string) (rawfile.Info, error) { return d.file.LstatAt(name) }

// Names lists the directory, in no order.
func (d *Dir) Names() ([]fs.DirEntry, error) { return d.file.ReadDir() }

// Open opens the regular file name for reading. What is none, or a stranger's, is
// fs.ErrNotExist: there is nothing that bento has written.
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

// Create makes the file name, which must not exist.
func (d *Dir) Create(name string, perm fs.FileMode) (*rawfile.File, error) {
	return d.file.CreateAt(name, perm)
}

// Update opens the regular file name for reading and writing, and makes it when it is
// missing. own reports whether it may be written: a file with a second name may be
// anybody's. Anything else in its place is a *RefusedError.
func (d *Dir) Update(name string) (f *rawfile.File, own bool, err error) {
	f, err = d.file.UpdateAt(name, 0o666)
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
	return f, info.Links() <= 1, nil
}

// Touch sets when the regular file name was modified to now, unless the file has a
// second name: that one may be anybody's. It reports whether there is such a file.
func (d *Dir) Touch(name string, now time.Time) bool {
	info, err := d.file.LstatAt(name)
	if err != nil || !info.Mode.IsRegular() {
		return false
	}
	if info.Links() <= 1 {
		_ = d.file.TouchAt(name, now) // it may not be allowed
	}
	return true
}

// Link makes the symbolic link name.
func (d *Dir) Link(target, name string) error { return d.file.SymlinkAt(target, name) }

// Remove removes the file or link name, not what a link leads to.
func (d *Dir) Remove(name string) error { return d.file.RemoveAt(name, false) }

// RemoveEmpty removes the directory name if nothing is in it.
func (d *Dir) RemoveEmpty(name string) error { return d.file.RemoveAt(name, true) }

// Move moves the file name to newName in the directory to, over what is there unless
// that is a directory.
func (d *Dir) Move(name string, to *Dir, newName string) error {
	return d.file.RenameAt(name, to.file, newName)
}

// TempPrefix begins the name of every file that Replace makes beside its target.
const TempPrefix = ".bento-tmp-"

// Replace puts a file in the place of what is at name: readers see the old one or the
// new one, whole. A link is replaced, not followed; a directory is an error.
func (d *Dir) Replace(name string, parts ...[]byte) error {
	var f *rawfile.File
	temp, err := d.fresh(func(name string) (err error) {
		f, err = d.file.CreateAt(name, 0o666)
		return err
	})
	if err != nil {
		return err
	}
	for _, p := range parts {
		if err == nil {
			_, err = f.Write(p)
		}
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = d.file.RenameAt(temp, d.file, name)
	}
	if err != nil {
		_ = d.file.RemoveAt(temp, false)
	}
	return err
}

// fresh calls create with names until one is not taken.
func (d *Dir) fresh(create func(name string) error) (name string, err error) {
	for range 100 {
		name = TempPrefix + RandomName()
		if err = create(name); !errors.Is(err, fs.ErrExist) {
			return name, err
		}
	}
	return "", err
}

// RandomName returns a name that nobody else uses.
func RandomName() string { return strconv.FormatUint(rand.Uint64(), 36) }

// IsRandomName reports whether RandomName may have returned name.
func IsRandomName(name string) bool {
	n, err := strconv.ParseUint(name, 36, 64)
	return err == nil && strconv.FormatUint(n, 36) == name
}
