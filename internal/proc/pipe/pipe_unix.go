//go:build unix

package pipe

import (
	"os"

	"golang.org/x/sys/unix"
)

// End is an end of a pipe, or another open file, that no poller has been told of.
// Package os prepares every file for one, and StartProcess undoes it: that is ten calls
// of the system for each task.
type End struct{ FD int }

// Of gives an open file, which stays its owner's.
func Of(f *os.File) End { return End{int(f.Fd())} }

// New makes a pipe. Children do not get its ends but by being given them.
func New() (read, write End, err error) {
	var fds [2]int
	if err := pipe2(&fds); err != nil {
		return read, write, os.NewSyscallError("pipe2", err)
	}
	return End{fds[0]}, End{fds[1]}, nil
}

// Close closes it.
func (e End) Close() { unix.Close(e.FD) }

// File gives the end as one that takes deadlines, and that is to be closed in its place.
func (e End) File() *os.File {
	_ = unix.SetNonblock(e.FD, true)
	return os.NewFile(uintptr(e.FD), "|1")
}
