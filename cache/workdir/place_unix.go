//go:build unix

package workdir

import (
	"errors"
	"io/fs"

	"golang.org/x/sys/unix"
)

// renameAt moves a name from one directory to another, in one step.
func renameAt(from *Dir, name string, to *Dir, newName string) error {
	a, err := from.file()
	if err != nil {
		return err
	}
	b, err := to.file()
	if err != nil {
		return err
	}
	err = unix.Renameat(int(a.Fd()), name, int(b.Fd()), newName)
	if err != nil {
		return &fs.PathError{Op: "rename", Path: newName, Err: err}
	}
	return nil
}

func isOtherDisk(err error) bool { return errors.Is(err, unix.EXDEV) }

func checkAccess(d *Dir) error {
	f, err := d.file()
	if err != nil {
		return err
	}
	return unix.Faccessat(int(f.Fd()), ".", unix.W_OK|unix.X_OK, unix.AT_EACCESS)
}
