//go:build unix

package state

import (
	"os"

	"golang.org/x/sys/unix"
)

func unlock(f *os.File) { _ = unix.Flock(int(f.Fd()), unix.LOCK_UN) }
