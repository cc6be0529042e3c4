package proc

import "golang.org/x/sys/unix"

func pipe2(fds *[2]int) error { return unix.Pipe2(fds[:], unix.O_CLOEXEC) }
