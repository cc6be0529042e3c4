package clone

import (
	"errors"
	"runtime"

	"golang.org/x/sys/unix"
)

// lookOnly opens a file without side effects, even a pipe or a device.
const lookOnly = unix.O_PATH

// plain opens a path without links in one call. It returns errLink for a path with a link.
func (e *ends) plain(rel string, flag int) (int, error) {
	how := unix.OpenHow{
		Flags:   uint64(flag | unix.O_CLOEXEC),
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS,
	}
	defer runtime.KeepAlive(e.dir)
	for {
		fd, err := unix.Openat2(int(e.dir.Fd()), rel, &how)
		switch {
		case errors.Is(err, unix.EINTR) || errors.Is(err, unix.EAGAIN):
		case errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EPERM):
			return e.slowly(rel, flag) // an old kernel, or a seccomp filter that does not know the call
		default:
			return fd, err
		}
	}
}
