// Package modcopy has the go command work on copies of go.mod and go.sum, so that it
// leaves the files of the project as they are.
package modcopy

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// flag names the copy, https://go.dev/ref/mod#build-commands.
const flag = "-modfile="

// Make copies the files of the module in dir, and gives the flag that has the go command
// take the copies. They are there until remove is called.
func Make(dir string) (arg string, remove func(), err error) {
	temp, err := os.MkdirTemp("", "bento-go-")
	if err != nil {
		return "", nil, err
	}
	remove = func() { os.RemoveAll(temp) }
	for _, name := range []string{"go.mod", "go.sum"} {
		data, err := read(filepath.Join(dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue // the go command says what it is without
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(temp, name), data, 0o600)
		}
		if err != nil {
			remove()
			return "", nil, err
		}
	}
	return flag + filepath.Join(temp, "go.mod"), remove, nil
}

// maxFile bounds what is copied, in bytes, as what is read of manifests is bounded.
const maxFile = 16 << 20

// read reads a regular file.
func read(name string) ([]byte, error) {
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%q is not a regular file: put one in its place", name)
	case info.Size() > maxFile:
		return nil, fmt.Errorf("%q has %d bytes, at most %d are read: make it smaller", name, info.Size(), maxFile)
	}
	return os.ReadFile(name)
}

// Spoken gives a command as a person would say it, without the flag.
func Spoken(argv []string) string {
	words := []string{filepath.Base(argv[0])}
	for _, arg := range argv[1:] {
		if !strings.HasPrefix(arg, flag) {
			words = append(words, arg)
		}
	}
	return strings.Join(words, " ")
}
