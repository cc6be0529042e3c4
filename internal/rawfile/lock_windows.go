package rawfile

import (
	"errors"

	"golang.org/x/sys/windows"
)

// The locked byte lies past what anybody writes: Windows locks forbid reading.
const lockedByte = 1 << 30

// TryLock locks the file until it is closed. The error is ErrLocked when another handle
// holds the lock.
func (f *File) TryLock() error {
	at := &windows.Overlapped{Offset: lockedByte}
	flags := uint32(windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY)
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, at)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return ErrLocked
	}
	return err
}

// Unlock leaves it to the end of the handle, which nobody else has.
func (f *File) Unlock() {}
