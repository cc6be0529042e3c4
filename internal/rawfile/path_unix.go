//go:build unix

package rawfile

import (
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/bentobuild/bento/internal/crash"
)

// MkdirAll makes the directory at path, which somebody has named, and those above it.
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

// TouchAt sets when name in the directory f was modified, and last read, to now. Of a
// link it is the link that is changed.
func (f *File) TouchAt(name string, now time.Time) error {
	crash.Point()
	at := unix.NsecToTimespec(now.UnixNano())
	return f.at("touch", name, func() error {
		return unix.UtimesNanoAt(f.fd, name, []unix.Timespec{at, at}, unix.AT_SYMLINK_NOFOLLOW)
	})
}

// Truncate sets the size of the file.
func (f *File) Truncate(size int64) error {
	crash.Point()
	return f.do("truncate", func() error { return unix.Ftruncate(f.fd, size) })
}

// FileLimit returns how many files this process may have open; 0 where that is not known.
func FileLimit() uint64 {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) != nil {
		return 0
	}
	return uint64(limit.Cur)
}
