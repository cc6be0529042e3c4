package state

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"

	"github.com/bentobuild/bento/internal/killpoint"
	"github.com/bentobuild/bento/internal/owndir"
)

// tempPrefix is the start of the name of every file that WriteFile makes beside its target.
const tempPrefix = owndir.TempPrefix

// WriteFile replaces a user's file at path by data: a reader sees the old content or the new one,
// whole. The umask reduces mode. It replaces a link and does not follow it; a directory is an
// error.
func WriteFile(path string, data []byte, mode fs.FileMode) error {
	f, err := createBeside(path, mode)
	if err != nil {
		return err
	}
	_, err = killpoint.Write(f.Write, data)
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		killpoint.Point()
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// createBeside is os.CreateTemp with a mode, which the umask reduces.
func createBeside(path string, mode fs.FileMode) (*os.File, error) {
	killpoint.Point()
	for range 100 {
		name := tempPrefix + strconv.FormatUint(rand.Uint64(), 36)
		f, err := os.OpenFile(filepath.Join(filepath.Dir(path), name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
	return nil, &fs.PathError{Op: "create", Path: path, Err: fs.ErrExist}
}
