//go:build unix

package rawfile

import (
	"errors"

	"golang.org/x/sys/unix"
)

// TryLock locks the file until Close. If this process dies before, the lock remains until every process
// that inherited the descriptor has closed it. It returns ErrLocked when another descriptor holds the
// lock, also one of this process.
func (f *File) TryLock() error {
	err := f.do("lock", func() error { return unix.Flock(f.fd, unix.LOCK_EX|unix.LOCK_NB) })
	if errors.Is(err, unix.EWOULDBLOCK) {
		return ErrLocked
	}
	f.locked = err == nil
	return err
}
