package sep

import "golang.org/x/sys/unix"

// peerUID returns the effective user of the other side of a Unix socket, as it was when it connected.
func peerUID(fd int) (int, error) {
	c, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return -1, err
	}
	return int(c.Uid), nil
}
