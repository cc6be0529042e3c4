// Package environment is shared by the adapters of Python projects: the virtual environment
// of a project, the variables of its tools and how they are run, and the files of a new project.
package environment

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/snapshot"
)

// The virtual environment, its commands and its interpreter, relative to the project.
const (
	Dir    = ".venv"
	Bin    = ".venv/bin"
	Python = ".venv/bin/python"
)

// Mark is the last file that an install writes into a virtual environment. Without it the environment
// is unfinished: pip would treat the packages that a killed pip left as installed.
const Mark = ".venv/.bento-installed"

// How the text of a mark begins: of an environment that bento has made, and of one that it has found.
const (
	Made  = "made by bento with "
	Found = "completed by bento with "
)

// ignoreFile keeps a virtual environment out of git.
const ignoreFile = ".venv/.gitignore"

// WriteMark ends a finished install in dir. It replaces the old file and never writes into
// it: installed files may be linked to the cache of the tool. A virtual environment behind
// a link that leads out of the workspace is an error.
func WriteMark(s snapshot.Source, dir, text string) error {
	if err := errors.Join(hide(s, dir), s.Put(filepath.Join(dir, Mark), []byte(text))); err != nil {
		return fmt.Errorf("mark the install of %q: %w", dir, err)
	}
	return nil
}

// hide writes the .gitignore of the virtual environment if it has none.
func hide(s snapshot.Source, dir string) error {
	path := filepath.Join(dir, ignoreFile)
	if isThere(path) {
		return nil
	}
	return s.Put(path, []byte("*\n"))
}

// Begin prepares an install from scratch: it removes the virtual environment of an earlier install in
// dir, and makes an empty directory that git ignores. An environment that no install of bento has made,
// or in which git tracks a file, stays, and is an error.
func Begin(s snapshot.Source, claims *adapters.Claims, dir string, log adapters.LogFunc) error {
	if err := clear(s, claims, dir, log); err != nil {
		return fmt.Errorf("begin the install of %q: %w", dir, err)
	}
	path := filepath.Join(dir, Dir)
	claims.Begin([]string{path})
	err := os.Mkdir(path, 0o777)
	if err == nil || errors.Is(err, fs.ErrExist) {
		err = hide(s, dir)
	}
	if err != nil {
		return fmt.Errorf("begin the install of %q: %w", dir, err)
	}
	return nil
}

// clear removes the virtual environment in dir, its mark first.
func clear(s snapshot.Source, claims *adapters.Claims, dir string, log adapters.LogFunc) error {
	path := filepath.Join(dir, Dir)
	if !isThere(path) || syscall.Rmdir(path) == nil { // an empty directory
		return nil
	}
	text, owned := mark(s, dir), claims.Owns(path)
	if !owned && !strings.HasPrefix(text, Made) {
		return &foreignError{path}
	}
	if err := claims.Tracks(path); err != nil {
		return err
	}
	if text == "" && log != nil {
		log(adapters.Log{Level: "warn", Message: Dir + " has no mark of a finished install, so it is made from scratch"})
	}
	if err := s.Remove(filepath.Join(dir, Mark)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return claims.RemoveMarked(path)
}

// mark returns the text of the mark in dir, "" without one.
func mark(s snapshot.Source, dir string) string {
	if fi, err := os.Lstat(filepath.Join(dir, Dir)); err != nil || !fi.IsDir() {
		return "" // a mark behind a link is not of this directory
	}
	data, _ := s.Read(filepath.Join(dir, Mark))
	return string(data)
}

// foreignError is the error of an environment that is not bento's to remove.
type foreignError struct{ path string }

func (e *foreignError) Error() string {
	return fmt.Sprintf("%q was not made by an install of bento, so it is not replaced: move or remove it and run again, or use it as it is with --skip-install", e.path)
}

// Renewal is an environment that an install is about to change.
type Renewal struct {
	Mark string // the text for WriteMark
	// Repair reports whether the install must replace all packages: bento has not made the
	// environment, so it does not remove it.
	Repair bool
}

// Renew prepares an install over an existing one, by a tool that can repair an environment. with names
// the tool and the interpreter. It keeps the environment of a finished install with the same ones,
// without the mark, keeps one that bento has not made, and removes any other.
func Renew(s snapshot.Source, claims *adapters.Claims, dir, with string, force bool, log adapters.LogFunc) (Renewal, error) {
	text, path := mark(s, dir), filepath.Join(dir, Dir)
	if fi, err := os.Lstat(path); err == nil && !fi.IsDir() {
		return Renewal{}, fmt.Errorf("begin the install of %q: %w", dir, &foreignError{path})
	}
	switch {
	case (text == Made+with || text == Found+with) && !force:
		return Renewal{Mark: text}, s.Remove(filepath.Join(dir, Mark))
	case !isThere(path) || strings.HasPrefix(text, Made) || claims.Owns(path):
		if err := clear(s, claims, dir, log); err != nil {
			return Renewal{}, fmt.Errorf("begin the install of %q: %w", dir, err)
		}
		claims.Begin([]string{path})
		return Renewal{Mark: Made + with}, nil
	}
	if err := claims.Tracks(path); err != nil {
		return Renewal{}, fmt.Errorf("begin the install of %q: %w", dir, err)
	}
	if err := s.Remove(filepath.Join(dir, Mark)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Renewal{}, fmt.Errorf("begin the install of %q: %w", dir, err)
	}
	return Renewal{Mark: Found + with, Repair: true}, nil
}

func isThere(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// ForInstall returns env without the variables that would make a tool install elsewhere or
// in another way.
func ForInstall(env adapters.Environ) adapters.Environ {
	return Without(env,
		"PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PIP_USER", "PIP_PYTHON", "VIRTUAL_ENV", "CONDA_PREFIX",
		"UV_FROZEN", "UV_LOCKED", "UV_NO_EDITABLE", "UV_NO_SYNC", "UV_ACTIVE", "UV_PYTHON")
}

// Without returns env without some variables.
func Without(env adapters.Environ, names ...string) adapters.Environ {
	return slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return slices.Contains(names, name)
	})
}
