//go:build unix

package rawfile

import (
	"errors"
	"io"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"

	"github.com/bentobuild/bento/internal/killpoint"
)

// maxLink is the largest length of a link's target.
const maxLink = 64 << 10

// MkdirAt makes the directory name in f.
func (f *File) MkdirAt(name string, perm fs.FileMode) error {
	killpoint.Point()
	return f.at("mkdir", name, func() error { return unix.Mkdirat(f.fd, name, uint32(perm.Perm())) })
}

// RemoveAt removes the file or link name in f, or the empty directory.
func (f *File) RemoveAt(name string, dir bool) error {
	killpoint.Point()
	flags := 0
	if dir {
		flags = unix.AT_REMOVEDIR
	}
	return f.at("remove", name, func() error { return unix.Unlinkat(f.fd, name, flags) })
}

// SymlinkAt makes the link name in f.
func (f *File) SymlinkAt(target, name string) error {
	killpoint.Point()
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
	killpoint.Point()
	return to.at("rename", newName, func() error { return unix.Renameat(f.fd, name, to.fd, newName) })
}

// ChmodAt sets the permission bits of name in f, which must not be a link.
func (f *File) ChmodAt(name string, mode fs.FileMode) error {
	killpoint.Point()
	return f.at("chmod", name, func() error { return unix.Fchmodat(f.fd, name, uint32(mode.Perm()), 0) })
}

// Writable returns the error that making a file in the directory f would have, if that is known
// beforehand.
func (f *File) Writable() error {
	return f.do("write", func() error {
		return unix.Faccessat(f.fd, ".", unix.W_OK|unix.X_OK, unix.AT_EACCESS)
	})
}

// ReadDir lists the directory f. Info of an entry is read when it is called.
func (f *File) ReadDir() ([]fs.DirEntry, error) { return f.ReadDirTo(-1) }

// ReadDirTo is ReadDir, of at most n entries for a positive n.
func (f *File) ReadDirTo(n int) ([]fs.DirEntry, error) {
	again, err := openAt(f.fd, ".", f.name, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, err
	}
	list := os.NewFile(again.Fd(), f.name)
	defer list.Close()
	entries, err := list.ReadDir(n)
	if errors.Is(err, io.EOF) {
		err = nil // an empty directory
	}
	return entries, err
}

// ReadNames lists the names in the directory f, in no order and once: a second call returns none.
func (f *File) ReadNames() (names []string, err error) {
	buf := make([]byte, 8<<10)
	for {
		var n int
		err := f.do("readdir", func() (err error) {
			n, err = unix.ReadDirent(f.fd, buf)
			return err
		})
		if err != nil || n <= 0 {
			return names, err
		}
		_, _, names = unix.ParseDirent(buf[:n], -1, names)
	}
}

// IsOtherDisk reports whether err comes from a rename to another file system.
func IsOtherDisk(err error) bool { return is(err, unix.EXDEV) }

// IsNotEmpty reports whether err comes from removing a directory with content.
func IsNotEmpty(err error) bool { return is(err, unix.ENOTEMPTY) || is(err, unix.EEXIST) }

// IsSpecial reports whether err comes from opening a socket, or a missing device.
func IsSpecial(err error) bool {
	return is(err, unix.ENXIO) || is(err, unix.ENODEV) || is(err, unix.EOPNOTSUPP)
}

// IsNotDir reports whether err comes from OpenDirAt of an entry that is no directory.
func IsNotDir(err error) bool {
	return is(err, unix.ENOTDIR) || is(err, unix.ELOOP) || is(err, unix.EMLINK)
}
