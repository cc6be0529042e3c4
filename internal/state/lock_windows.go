package state

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

const nonblock = 0

// The locked byte lies past what sign writes: Windows locks forbid reading.
const lockedByte = 1 << 30

// tryLock locks f or gives errLocked.
func tryLock(f *os.File) error {
	at := &windows.Overlapped{Offset: lockedByte}
	flags := uint32(windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY)
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, at)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return errLocked
	}
	return err
}

// unlock leaves it to the end of the handle, which nobody else has.
func unlock(*os.File) {}

// lockDir locks a file beside the directory, which itself cannot be locked.
func lockDir(dir string) (*os.File, error) {
	f, err := os.OpenFile(dir+".lock", os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	if err := tryLock(f); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
