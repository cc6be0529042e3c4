package host

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"

	"github.com/bentobuild/bento/adapters"
)

// pinned returns the content of a file, if it has the digest, in an anonymous file in
// memory, which no other user can change. Later changes of the file or of the path have no
// effect.
func pinned(path, digest string, env adapters.Environ) (*os.File, error) {
	from, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0) // a FIFO has no writer
	if err != nil {
		return nil, err
	}
	defer from.Close()
	fi, err := from.Stat()
	if err != nil {
		return nil, err
	}
	if !fi.Mode().IsRegular() || fi.Size() > maxPinned {
		return nil, distrust("it is not a regular file of at most %d MiB", maxPinned>>20)
	}
	to, err := anonymous()
	if err != nil {
		return nil, err
	}
	if err := fill(to, from, digest, env); err != nil {
		to.Close()
		return nil, err
	}
	return to, nil
}

// anonymous returns a file without a name that can be sealed and executed.
func anonymous() (*os.File, error) {
	const flags = unix.MFD_CLOEXEC | unix.MFD_ALLOW_SEALING
	fd, err := unix.MemfdCreate("bento-plugin", flags|unix.MFD_EXEC)
	if errors.Is(err, unix.EINVAL) { // a kernel before 6.3, where all of them can be executed
		fd, err = unix.MemfdCreate("bento-plugin", flags)
	}
	if err != nil {
		return nil, distrust("no private copy of it can be made: %v", os.NewSyscallError("memfd_create", err))
	}
	return os.NewFile(uintptr(fd), "bento-plugin"), nil
}

// fill copies, seals and compares, in this order, so that the compared content is final.
func fill(to, from *os.File, digest string, env adapters.Environ) error {
	if _, err := io.Copy(to, io.LimitReader(from, maxPinned+1)); err != nil {
		return err
	}
	const seals = unix.F_SEAL_SEAL | unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_WRITE
	if _, err := unix.FcntlInt(to.Fd(), unix.F_ADD_SEALS, seals); err != nil {
		return distrust("no private copy of it can be made: %v", os.NewSyscallError("fcntl", err))
	}
	h := sha256.New()
	if _, err := io.Copy(h, io.NewSectionReader(to, 0, maxPinned+1)); err != nil {
		return err
	}
	if got := hex.EncodeToString(h.Sum(nil)); got != digest {
		return distrust("its sha256 is now %s, expected %s", got, digest)
	}
	start := make([]byte, startLength)
	n, err := to.ReadAt(start, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return trustInterpreter(start[:n], env)
}
