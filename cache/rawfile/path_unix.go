//go:build unix

package rawfile

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/bentobuild/bento/internal/crash"
)

// atPath makes a system call on the file at path.
func atPath(op, path string, call func() error) error {
	crash.Point()
	err := call()
	for errors.Is(err, unix.EINTR) {
		err = call()
	}
	if err != nil {
		return &fs.PathError{Op: op, Path: path, Err: err}
	}
	return nil
}

// Rename moves a file over another one, in one step.
func Rename(from, to string) error {
	return atPath("rename", to, func() error { return unix.Rename(from, to) })
}

// Remove removes a file or a link.
func Remove(path string) error {
	return atPath("remove", path, func() error { return unix.Unlink(path) })
}

// Touch sets when a file was modified, and last read, to now.
func Touch(path string, now time.Time) error {
	at := unix.NsecToTimespec(now.UnixNano())
	return atPath("touch", path, func() error {
		return unix.UtimesNanoAt(unix.AT_FDCWD, path, []unix.Timespec{at, at}, 0)
	})
}

// Lstat says what the file at path is.
func Lstat(path string) (Info, error) {
	info, err := lstat(unix.AT_FDCWD, path)
	if err != nil {
		err = &fs.PathError{Op: "lstat", Path: path, Err: err}
	}
	return info, err
}

// MkdirAll makes a directory and those above it.
func MkdirAll(path string, perm fs.FileMode) error {
	crash.Point()
	return os.MkdirAll(path, perm)
}

// Touch sets when the file was modified, and last read, to now.
func (f *File) Touch(now time.Time) error {
	crash.Point()
	at := unix.NsecToTimeval(now.UnixNano())
	return f.do("touch", func() error { return unix.Futimes(f.fd, []unix.Timeval{at, at}) })
}
