//go:build unix

package proc

import (
	"os"

	"golang.org/x/sys/unix"
)

// pipeEnd is an end of a pipe, or another open file, that no poller has been told of.
// Package os prepares every file for one, and StartProcess undoes it: that is ten calls
// of the system for each task.
type pipeEnd struct{ fd int }

func endOf(f *os.File) pipeEnd { return pipeEnd{int(f.Fd())} }

func (e pipeEnd) close() { unix.Close(e.fd) }

// file gives the end, which is ours, as one that takes deadlines.
func (e pipeEnd) file() *os.File {
	_ = unix.SetNonblock(e.fd, true)
	return os.NewFile(uintptr(e.fd), "|1")
}

func pipe() (read, write pipeEnd, err error) {
	var fds [2]int
	if err := pipe2(&fds); err != nil {
		return read, write, os.NewSyscallError("pipe2", err)
	}
	return pipeEnd{fds[0]}, pipeEnd{fds[1]}, nil
}
