//go:build unix

package rawfile

import (
	"errors"

	"golang.org/x/sys/unix"
)

// TryLock locks the file at path, which it makes, until unlock is called or this
// process ends. locked says that somebody else has locked it.
func TryLock(path string) (unlock func(), locked bool, err error) {
	f, err := openAt(unix.AT_FDCWD, path, path, unix.O_RDWR|unix.O_CREAT, 0o666)
	if err != nil {
		return nil, false, err
	}
	err = f.do("lock", func() error { return unix.Flock(f.fd, unix.LOCK_EX|unix.LOCK_NB) })
	if err != nil {
		f.Close()
		return nil, errors.Is(err, unix.EWOULDBLOCK), err
	}
	return func() { f.Close() }, false, nil
}
