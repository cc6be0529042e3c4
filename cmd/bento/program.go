package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/bentobuild/bento/internal/config"
	"github.com/bentobuild/bento/internal/state"
	"github.com/bentobuild/bento/internal/tree"
)

// program says which executable this is, by its stat: whoever builds or installs
// another one changes that. It is "" when it cannot be found.
func program() string {
	path, err := os.Executable()
	if err != nil {
		return ""
	}
	e, err := tree.Stat(filepath.Split(path))
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%s %d %v", path, e.Size, e.Stamp())
}

// remember opens what is remembered of the configuration; nothing where this program
// cannot be told from another one.
func remember(dir *state.Dir) *config.Memory {
	if this := program(); this != "" {
		return config.Remember(dir, this)
	}
	return nil
}
