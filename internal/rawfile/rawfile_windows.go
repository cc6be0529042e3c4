package rawfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/windows"
)

// File is an open file or directory. What is done in a directory goes by its path
// here, and after a look at each name.
type File struct{ *os.File }

type identity struct{ info fs.FileInfo }

func (a identity) same(b identity) bool { return os.SameFile(a.info, b.info) }

func (identity) serial() uint64 { return 0 }

func (identity) sameDisk(identity) bool { return true }

func wrap(f *os.File, err error) (*File, error) { return &File{f}, err }

// OpenDir opens the directory at path.
func OpenDir(path string) (*File, error) { return wrap(os.Open(path)) }

// OpenDirAt opens the directory name in f; a link is an error.
func (f *File) OpenDirAt(name string) (*File, error) {
	info, err := f.LstatAt(name)
	if err == nil && !info.IsDir() {
		err = &fs.PathError{Op: "open", Path: f.join(name), Err: syscall.ENOTDIR}
	}
	if err != nil {
		return nil, err
	}
	return wrap(os.Open(f.join(name)))
}

// OpenAt opens the file name in the directory f for reading; a link is an error.
func (f *File) OpenAt(name string) (*File, error) {
	info, err := f.LstatAt(name)
	if err == nil && info.IsLink() {
		err = &fs.PathError{Op: "open", Path: f.join(name), Err: syscall.ELOOP}
	}
	if err != nil {
		return nil, err
	}
	return wrap(os.Open(f.join(name)))
}

// CreateAt makes the file name in the directory f, which must not exist, for reading
// and writing.
func (f *File) CreateAt(name string, perm fs.FileMode) (*File, error) {
	return wrap(os.OpenFile(f.join(name), os.O_RDWR|os.O_CREATE|os.O_EXCL, perm))
}

// UpdateAt opens the file name in the directory f for reading and writing, and makes it
// when it is missing; a link is an error.
func (f *File) UpdateAt(name string, perm fs.FileMode) (*File, error) {
	if info, err := f.LstatAt(name); err == nil && info.IsLink() {
		return nil, &fs.PathError{Op: "open", Path: f.join(name), Err: syscall.ELOOP}
	}
	return wrap(os.OpenFile(f.join(name), os.O_RDWR|os.O_CREATE, perm))
}

// Again opens the directory f once more.
func (f *File) Again() (*File, error) { return wrap(os.Open(f.Name())) }

// Std returns the file.
func (f *File) Std() *os.File { return f.File }

func (f *File) join(name string) string { return filepath.Join(f.Name(), name) }

// Rewind makes the next Read or Write start at the beginning.
func (f *File) Rewind() error {
	_, err := f.Seek(0, io.SeekStart)
	return err
}

// Stat says what the file is.
func (f *File) Stat() (Info, error) { return infoOf(f.File.Stat()) }

// LstatAt says what name in the directory f is.
func (f *File) LstatAt(name string) (Info, error) { return infoOf(os.Lstat(f.join(name))) }

func infoOf(fi fs.FileInfo, err error) (Info, error) {
	if err != nil {
		return Info{}, err
	}
	return Info{Mode: fi.Mode(), Size: fi.Size(), Modified: fi.ModTime(), id: identity{fi}}, nil
}

// MkdirAt makes the directory name in f.
func (f *File) MkdirAt(name string, perm fs.FileMode) error { return os.Mkdir(f.join(name), perm) }

// RemoveAt removes the file or link name in f, or the empty directory.
func (f *File) RemoveAt(name string, _ bool) error { return os.Remove(f.join(name)) }

// SymlinkAt makes the link name in f.
func (f *File) SymlinkAt(target, name string) error { return os.Symlink(target, f.join(name)) }

// ReadlinkAt reads the link name in f.
func (f *File) ReadlinkAt(name string) (string, error) { return os.Readlink(f.join(name)) }

// RenameAt moves name in f to newName in the directory to, in one step.
func (f *File) RenameAt(name string, to *File, newName string) error {
	return os.Rename(f.join(name), to.join(newName))
}

// ChmodAt sets the permission bits of name in f, which is no link.
func (f *File) ChmodAt(name string, mode fs.FileMode) error { return os.Chmod(f.join(name), mode) }

// Writable knows nothing here.
func (f *File) Writable() error { return nil }

// ReadDir lists the directory f.
func (f *File) ReadDir() ([]fs.DirEntry, error) { return os.ReadDir(f.Name()) }

// IsOtherDisk tells the error of a rename to another file system.
func IsOtherDisk(err error) bool { return errors.Is(err, windows.ERROR_NOT_SAME_DEVICE) }

// IsNotEmpty tells the error of removing a directory with something in it.
func IsNotEmpty(err error) bool { return errors.Is(err, windows.ERROR_DIR_NOT_EMPTY) }

// IsSpecial reports nothing here.
func IsSpecial(error) bool { return false }

// IsNotDir tells the error of OpenDirAt for what is there and no directory.
func IsNotDir(err error) bool {
	return errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ELOOP)
}

// MkdirAll makes the directory at path, which somebody has named, and those above it.
func MkdirAll(path string, perm fs.FileMode) error { return os.MkdirAll(path, perm) }

// Touch sets when the file was modified, and last read, to now.
func (f *File) Touch(now time.Time) error { return os.Chtimes(f.Name(), now, now) }

// TouchAt sets when name in the directory f was modified, and last read, to now.
func (f *File) TouchAt(name string, now time.Time) error { return os.Chtimes(f.join(name), now, now) }

// FileLimit returns how many files this process may have open; 0 where that is not known.
func FileLimit() uint64 { return 0 }
