// Package environment is what the adapters of Python projects share: the virtual
// environment of a project, the variables that its tools see, and how they are run.
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

// The virtual environment, its commands and its interpreter, relative to where it is
// made.
const (
	Dir    = ".venv"
	Bin    = ".venv/bin"
	Python = ".venv/bin/python"
)

// Mark is written last into a virtual environment. One without it is unfinished: pip
// takes what a killed pip left for installed.
const Mark = ".venv/.bento-installed"

// WriteMark ends a finished install in dir. It replaces what is there and never
// writes into it: installed files may be shared with the cache of the tool.
func WriteMark(dir, text string) error {
	path := filepath.Join(dir, Mark)
	err := os.Remove(path)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		err = os.WriteFile(path, []byte(text), 0o644)
	}
	if err != nil {
		return fmt.Errorf("mark the install of %q: %w", dir, err)
	}
	return nil
}

// Clear removes the virtual environment in dir, its mark first.
func Clear(dir string, log adapters.LogFunc) error {
	err := os.Remove(filepath.Join(dir, Mark))
	if _, statErr := os.Lstat(filepath.Join(dir, Dir)); err != nil && statErr == nil && log != nil {
		log(adapters.Log{Level: "warn", Message: Dir + " has no mark of a finished install, it is made anew"})
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
		return fmt.Errorf("begin the install of %q: %w", dir, err)
	}
	if err := os.RemoveAll(filepath.Join(dir, Dir)); err != nil {
		return fmt.Errorf("begin the install of %q: %w", dir, err)
	}
	return nil
}

// Renew prepares an install over the one that is there. What a finished install with
// the same mark left is kept, without that mark; all else is removed.
func Renew(dir, mark string, force bool, log adapters.LogFunc) error {
	data, err := os.ReadFile(filepath.Join(dir, Mark))
	if err == nil && string(data) == mark && !force {
		return os.Remove(filepath.Join(dir, Mark))
	}
	return Clear(dir, log)
}

// ForInstall leaves out of env what would lead a tool to another place than the
// virtual environment, or to another way of installing.
func ForInstall(env adapters.Environ) adapters.Environ {
	return Without(env,
		"PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PIP_USER", "PIP_PYTHON", "VIRTUAL_ENV", "CONDA_PREFIX",
		"UV_FROZEN", "UV_LOCKED", "UV_NO_SYNC", "UV_ACTIVE", "UV_PYTHON")
}

// Without gives env with some variables left out.
func Without(env adapters.Environ, names ...string) adapters.Environ {
	return slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return slices.Contains(names, name)
	})
}
