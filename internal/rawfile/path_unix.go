//go:build unix

package rawfile

import (
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/bentobuild/bento/internal/killpoint"
)

// MkdirAll makes the directory at path and its missing parents. It follows links.
func MkdirAll(path string, perm fs.FileMode) error {
	killpoint.Point()
	return os.MkdirAll(path, perm)
}

// Touch sets the modification and access time of the file to now.
func (f *File) Touch(now time.Time) error {
	killpoint.Point()
	at := unix.NsecToTimeval(now.UnixNano())
	return f.do("touch", func() error { return unix.Futimes(f.fd, []unix.Timeval{at, at}) })
}

// TouchAt sets the modification and access time of name in the directory f to now. It does not
// follow a link.
func (f *File) TouchAt(name string, now time.Time) error {
	killpoint.Point()
	at := unix.NsecToTimespec(now.UnixNano())
	return f.at("touch", name, func() error {
		return unix.UtimesNanoAt(f.fd, name, []unix.Timespec{at, at}, unix.AT_SYMLINK_NOFOLLOW)
	})
}

// Truncate sets the size of the file.
func (f *File) Truncate(size int64) error {
	killpoint.Point()
	return f.do("truncate", func() error { return unix.Ftruncate(f.fd, size) })
}

// FileLimit returns the number of files that this process may have open, 0 if unknown.
func FileLimit() uint64 {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) != nil {
		return 0
	}
	return uint64(limit.Cur)
}
