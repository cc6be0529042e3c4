//go:build unix

package rawfile

import (
	"errors"

	"golang.org/x/sys/unix"
)

// TryLock locks the file until this process and those that inherited the
// descriptor have closed it. It returns ErrLocked when another descriptor holds the lock, also one
// of this process.
func (f *File) TryLock() error {
	err := f.do("lock", func() error { return unix.Flock(f.fd, unix.LOCK_EX|unix.LOCK_NB) })
	if errors.Is(err, unix.EWOULDBLOCK) {
		return ErrLocked
	}
	return err
}
