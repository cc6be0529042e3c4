package host

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// UnreadOfPipe returns a function that returns how many bytes of a pipe its reader has not read, 0 if that
// is not known.
func UnreadOfPipe(pipe syscall.Conn) func() int { return asking(pipe, unix.TIOCINQ) }

// UnreadOfSocket is UnreadOfPipe for a socket. Its unit is not the sent bytes.
func UnreadOfSocket(socket syscall.Conn) func() int { return asking(socket, unix.TIOCOUTQ) }

// asking returns a function that asks the kernel for a number about a file.
func asking(file syscall.Conn, request uint) func() int {
	return func() (n int) {
		raw, err := file.SyscallConn()
		if err != nil {
			return 0
		}
		_ = raw.Control(func(fd uintptr) { // an error means that it is closed
			if n, err = unix.IoctlGetInt(int(fd), request); err != nil {
				n = 0
			}
		})
		return n
	}
}
