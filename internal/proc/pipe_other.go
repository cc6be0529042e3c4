//go:build unix && !linux

package proc

import (
	"syscall"

	"golang.org/x/sys/unix"
)

func pipe2(fds *[2]int) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	err := unix.Pipe(fds[:])
	if err == nil {
		unix.CloseOnExec(fds[0])
		unix.CloseOnExec(fds[1])
	}
	return err
}
