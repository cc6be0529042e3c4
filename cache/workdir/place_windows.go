package workdir

import (
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/windows"
)

// renameAt moves a name from one directory to another, in one step.
func renameAt(from *Dir, name string, to *Dir, newName string) error {
	return os.Rename(filepath.Join(from.Name(), name), filepath.Join(to.Name(), newName))
}

func isOtherDisk(err error) bool { return errors.Is(err, windows.ERROR_NOT_SAME_DEVICE) }

func checkAccess(*Dir) error { return nil }
