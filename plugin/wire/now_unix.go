//go:build unix

package wire

import (
	"errors"
	"io"
	"io/fs"
	"syscall"

	"golang.org/x/sys/unix"
)

// waitless returns access to a stream that can be written to without blocking, such as a
// pipe of os.Pipe, and nil for others.
func waitless(w io.Writer) syscall.RawConn {
	file, ok := w.(syscall.Conn)
	if !ok {
		return nil
	}
	raw, err := file.SyscallConn()
	if err != nil {
		return nil
	}
	waits := true
	if err := raw.Control(func(fd uintptr) {
		flags, err := unix.FcntlInt(fd, unix.F_GETFL, 0)
		waits = err != nil || flags&unix.O_NONBLOCK == 0
	}); err != nil || waits {
		return nil
	}
	return raw
}

// writeNow writes as much as it can without blocking. A goroutine for a write that may
// block costs more than a short call.
func writeNow(raw syscall.RawConn, p []byte) (n int, err error) {
	if raw == nil {
		return 0, nil
	}
	closed := raw.Write(func(fd uintptr) bool {
		n, err = unix.Write(int(fd), p)
		return true
	})
	switch {
	case closed != nil: // the standard library does not export this error
		return 0, fs.ErrClosed
	case errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EINTR):
		return 0, nil
	case err != nil:
		return 0, err
	}
	return n, nil
}
