package golang

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// modfileFlag names the copy, https://go.dev/ref/mod#build-commands.
const modfileFlag = "-modfile="

// copyModfiles copies the go.mod and go.sum in dir, and returns the flag that makes the go command
// use the copies. They exist until the caller calls remove.
func copyModfiles(dir string) (arg string, remove func(), err error) {
	temp, err := os.MkdirTemp("", "bento-go-")
	if err != nil {
		return "", nil, err
	}
	remove = func() { os.RemoveAll(temp) }
	for _, name := range []string{"go.mod", "go.sum"} {
		data, err := readRegular(filepath.Join(dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue // the go command reports what it misses
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(temp, name), data, 0o600)
		}
		if err != nil {
			remove()
			return "", nil, err
		}
	}
	return modfileFlag + filepath.Join(temp, "go.mod"), remove, nil
}

// maxCopied is the size limit of a copied file, in bytes, as for manifests.
const maxCopied = 16 << 20

// readRegular reads a regular file.
func readRegular(name string) ([]byte, error) {
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%q is not a regular file: put one in its place", name)
	case info.Size() > maxCopied:
		return nil, fmt.Errorf("%q has %d bytes, at most %d are read: make it smaller", name, info.Size(), maxCopied)
	}
	return os.ReadFile(name)
}

// spoken returns a command without the flag, for messages.
func spoken(argv []string) string {
	words := []string{filepath.Base(argv[0])}
	for _, arg := range argv[1:] {
		if !strings.HasPrefix(arg, modfileFlag) {
			words = append(words, arg)
		}
	}
	return strings.Join(words, " ")
}
