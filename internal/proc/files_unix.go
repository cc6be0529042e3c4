//go:build unix

package proc

import (
	"os"

	"golang.org/x/sys/unix"
)

// pipe makes a pipe whose end theirs, 0 for reading or 1 for writing, is for a child.
// That of os makes both ends such as a poller takes, and StartProcess undoes it: ten
// calls of the system for each task.
func pipe(theirs int) (child, ours *os.File, err error) {
	var fds [2]int
	if err := pipe2(&fds); err != nil {
		return nil, nil, os.NewSyscallError("pipe2", err)
	}
	_ = unix.SetNonblock(fds[1-theirs], true)
	return os.NewFile(uintptr(fds[theirs]), "|0"), os.NewFile(uintptr(fds[1-theirs]), "|1"), nil
}

// openFile opens a file to be handed to a child.
func openFile(name string, flag int) (*os.File, error) {
	fd, err := unix.Open(name, flag|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: name, Err: err}
	}
	return os.NewFile(uintptr(fd), name), nil
}
