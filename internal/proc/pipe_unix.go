//go:build unix

package proc

import (
	"os"

	"golang.org/x/sys/unix"
)

// pipeEnd is an end of a pipe, or another open file, that is not registered with a poller. Package
// os registers every file, and StartProcess undoes it: ten system calls for each task.
type pipeEnd struct{ FD int }

// pipeOf returns the pipeEnd of an open file, which its owner closes.
func pipeOf(f *os.File) pipeEnd { return pipeEnd{int(f.Fd())} }

// newPipe makes a pipe. Children inherit an end only when it is passed to them.
func newPipe() (read, write pipeEnd, err error) {
	var fds [2]int
	if err := pipe2(&fds); err != nil {
		return read, write, os.NewSyscallError("pipe2", err)
	}
	return pipeEnd{fds[0]}, pipeEnd{fds[1]}, nil
}

// Close closes it.
func (e pipeEnd) Close() { unix.Close(e.FD) }

// File returns the end as a file with deadlines. The caller closes the file in place of the end.
func (e pipeEnd) File() *os.File {
	_ = unix.SetNonblock(e.FD, true)
	return os.NewFile(uintptr(e.FD), "|1")
}

// readNow reads the content of a pipe without waiting, even after its deadline. It returns 0 at the
// end and if the pipe is empty.
func readNow(f *os.File, buf []byte) (n int) {
	raw, err := f.SyscallConn()
	if err != nil {
		return 0
	}
	_ = raw.Control(func(fd uintptr) {
		for {
			if n, err = unix.Read(int(fd), buf); err != unix.EINTR {
				return
			}
		}
	})
	return max(0, n)
}
