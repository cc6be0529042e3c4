package sandbox

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// The mount over a hidden directory has no programs and no devices.
const inert = unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC

// hide mounts an empty directory over each hidden one, in the mount namespace of this process.
// Where the kernel forbids mounting it hides nothing and returns no error.
func (p Policy) hide() error {
	if len(p.Hide) == 0 {
		return nil
	}
	// These mounts must not be visible outside.
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_SLAVE, ""); err != nil {
		return nil
	}
	for _, dir := range p.Hide {
		if err := hideDir(dir, p.Write); err != nil {
			return fmt.Errorf("hide %q: %w", dir, err)
		}
	}
	return nil
}

// hideDir hides a directory except the directories of write in it.
func hideDir(dir string, write []string) error {
	kept := make(map[string]int) // descriptors, by path
	defer func() {
		for _, fd := range kept {
			unix.Close(fd)
		}
	}()
	for _, path := range write {
		if !strings.HasPrefix(path, dir+"/") {
			continue
		}
		fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
		if err != nil {
			return &fs.PathError{Op: "open", Path: path, Err: err}
		}
		kept[path] = fd
	}
	if err := unix.Mount("tmpfs", dir, "tmpfs", inert, "size=64k,mode=755"); err != nil {
		return nil // many containers forbid it
	}
	for path, fd := range kept {
		if err := os.MkdirAll(path, 0o755); err != nil {
			return err
		}
		if err := unix.Mount(filepath.Join("/proc/self/fd", fmt.Sprint(fd)), path, "", unix.MS_BIND, ""); err != nil {
			return os.NewSyscallError("mount", err)
		}
	}
	return os.NewSyscallError("mount", unix.Mount("", dir, "", unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RDONLY|inert, ""))
}
