//go:build unix

package proc

import (
	"os"

	"golang.org/x/sys/unix"
)

// pipeEnd is our end of a pipe, which no poller has been told of.
type pipeEnd struct{ fd int }

func (e pipeEnd) file() *os.File { return os.NewFile(uintptr(e.fd), "|1") }
func (e pipeEnd) close()         { unix.Close(e.fd) }

// pipe makes a pipe whose end theirs, 0 for reading or 1 for writing, is for a child.
// That of os makes both ends such as a poller takes, and StartProcess undoes it: ten
// calls of the system for each task.
func pipe(theirs int) (child *os.File, ours pipeEnd, err error) {
	var fds [2]int
	if err := pipe2(&fds); err != nil {
		return nil, ours, os.NewSyscallError("pipe2", err)
	}
	ours.fd = fds[1-theirs]
	_ = unix.SetNonblock(ours.fd, true)
	return os.NewFile(uintptr(fds[theirs]), "|0"), ours, nil
}

func outputPipe() (child *os.File, ours pipeEnd, err error) { return pipe(1) }

func inputPipe() (child, ours *os.File, err error) {
	child, end, err := pipe(0)
	if err != nil {
		return nil, nil, err
	}
	return child, end.file(), nil
}

// openFile opens a file to be handed to a child.
func openFile(name string, flag int) (*os.File, error) {
	fd, err := unix.Open(name, flag|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: name, Err: err}
	}
	return os.NewFile(uintptr(fd), name), nil
}
