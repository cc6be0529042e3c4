//go:build unix

package rawfile

import (
	"io/fs"
	"os"

	"golang.org/x/sys/unix"

	"github.com/bentobuild/bento/internal/crash"
)

// maxLink is the length of a link's target from which on it is refused.
const maxLink = 64 << 10

// MkdirAt makes the directory name in f.
func (f *File) MkdirAt(name string, perm fs.FileMode) error {
	crash.Point()
	return f.at("mkdir", name, func() error { return unix.Mkdirat(f.fd, name, uint32(perm.Perm())) })
}

// RemoveAt removes the file or link name in f, or the empty directory.
func (f *File) RemoveAt(name string, dir bool) error {
	crash.Point()
	flags := 0
	if dir {
		flags = unix.AT_REMOVEDIR
	}
	return f.at("remove", name, func() error { return unix.Unlinkat(f.fd, name, flags) })
}

// SymlinkAt makes the link name in f.
func (f *File) SymlinkAt(target, name string) error {
	crash.Point()
	return f.at("symlink", name, func() error { return unix.Symlinkat(target, f.fd, name) })
}

// ReadlinkAt reads the link name in f.
func (f *File) ReadlinkAt(name string) (string, error) {
	for size := 256; size <= maxLink; size *= 4 {
		buf, n := make([]byte, size), 0
		err := f.at("readlink", name, func() (err error) {
			n, err = unix.Readlinkat(f.fd, name, buf)
			return err
		})
		if err != nil || n < size {
			return string(buf[:max(n, 0)]), err
		}
	}
	return "", &fs.PathError{Op: "readlink", Path: f.join(name), Err: unix.ENAMETOOLONG}
}

// RenameAt moves name in f to newName in the directory to, in one step.
func (f *File) RenameAt(name string, to *File, newName string) error {
	crash.Point()
	return to.at("rename", newName, func() error { return unix.Renameat(f.fd, name, to.fd, newName) })
}

// ChmodAt sets the permission bits of name in f, which is no link.
func (f *File) ChmodAt(name string, mode fs.FileMode) error {
	crash.Point()
	return f.at("chmod", name, func() error { return unix.Fchmodat(f.fd, name, uint32(mode.Perm()), 0) })
}

// Writable gives the error of making a file in the directory f, if that is known
// beforehand.
func (f *File) Writable() error {
	return f.do("write", func() error {
		return unix.Faccessat(f.fd, ".", unix.W_OK|unix.X_OK, unix.AT_EACCESS)
	})
}

// ReadDir lists the directory f. The entries' Info is that of the moment.
func (f *File) ReadDir() ([]fs.DirEntry, error) {
	again, err := openAt(f.fd, ".", f.name, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, err
	}
	list := os.NewFile(again.Fd(), f.name)
	defer list.Close()
	return list.ReadDir(-1)
}

// IsOtherDisk tells the error of a rename to another file system.
func IsOtherDisk(err error) bool { return is(err, unix.EXDEV) }

// IsNotEmpty tells the error of removing a directory with something in it.
func IsNotEmpty(err error) bool { return is(err, unix.ENOTEMPTY) || is(err, unix.EEXIST) }

// IsSpecial reports whether err is that of opening a socket, or a device that is not
// there.
func IsSpecial(err error) bool {
	return is(err, unix.ENXIO) || is(err, unix.ENODEV) || is(err, unix.EOPNOTSUPP)
}

// IsNotDir tells the error of OpenDirAt for what is there and no directory.
func IsNotDir(err error) bool {
	return is(err, unix.ENOTDIR) || is(err, unix.ELOOP) || is(err, unix.EMLINK)
}
