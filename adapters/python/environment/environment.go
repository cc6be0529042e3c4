// Package environment is shared by the adapters of Python projects: the virtual environment
// of a project, the variables of its tools, and how they are run.
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

// WriteMark ends a finished install in dir. It replaces the old file and never writes into
// it: installed files may be linked to the cache of the tool. A virtual environment behind
// a link that leads out of the workspace is an error.
func WriteMark(s adapters.Source, dir, text string) error {
	if err := s.Put(filepath.Join(dir, Mark), []byte(text)); err != nil {
		return fmt.Errorf("mark the install of %q: %w", dir, err)
	}
	return nil
}

// Clear removes the virtual environment in dir, its mark first.
func Clear(s adapters.Source, dir string, log adapters.LogFunc) error {
	err := s.Remove(filepath.Join(dir, Mark))
	if _, statErr := os.Lstat(filepath.Join(dir, Dir)); err != nil && statErr == nil && log != nil {
		log(adapters.Log{Level: "warn", Message: Dir + " has no mark of a finished install, so it is made from scratch"})
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
		return fmt.Errorf("begin the install of %q: %w", dir, err)
	}
	if err := os.RemoveAll(filepath.Join(dir, Dir)); err != nil {
		return fmt.Errorf("begin the install of %q: %w", dir, err)
	}
	return nil
}

// Renew prepares an install over an existing one. It keeps the environment of a finished install with
// the same mark, without the mark, and removes any other.
func Renew(s adapters.Source, dir, mark string, force bool, log adapters.LogFunc) error {
	data, err := s.Read(filepath.Join(dir, Mark))
	if err == nil && string(data) == mark && !force {
		return s.Remove(filepath.Join(dir, Mark))
	}
	return Clear(s, dir, log)
}

// ForInstall returns env without the variables that would make a tool install elsewhere or
// in another way.
func ForInstall(env adapters.Environ) adapters.Environ {
	return Without(env,
		"PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PIP_USER", "PIP_PYTHON", "VIRTUAL_ENV", "CONDA_PREFIX",
		"UV_FROZEN", "UV_LOCKED", "UV_NO_SYNC", "UV_ACTIVE", "UV_PYTHON")
}

// Without returns env without some variables.
func Without(env adapters.Environ, names ...string) adapters.Environ {
	return slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return slices.Contains(names, name)
	})
}
