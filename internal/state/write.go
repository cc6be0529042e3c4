package state

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"

	"github.com/bentobuild/bento/internal/crash"
	"github.com/bentobuild/bento/internal/owndir"
)

// tempPrefix begins the name of every file that WriteFile makes beside its target.
const tempPrefix = owndir.TempPrefix

// WriteFile replaces a file of the user's, at path, by data: whoever reads it sees the old
// content or the new one, whole. mode is reduced by the umask. What is at path may
// be a link, which is then replaced, not followed; a directory is an error.
func WriteFile(path string, data []byte, mode fs.FileMode) error {
	f, err := createBeside(path, mode)
	if err != nil {
		return err
	}
	_, err = crash.Write(f.Write, data)
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		crash.Point()
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// createBeside is os.CreateTemp with a mode that the umask applies to.
func createBeside(path string, mode fs.FileMode) (*os.File, error) {
	crash.Point()
	for range 100 {
		name := tempPrefix + strconv.FormatUint(rand.Uint64(), 36)
		f, err := os.OpenFile(filepath.Join(filepath.Dir(path), name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
	return nil, &fs.PathError{Op: "create", Path: path, Err: fs.ErrExist}
}
