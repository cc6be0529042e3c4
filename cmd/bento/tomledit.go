package main

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/clone"
	"github.com/bentobuild/bento/internal/config"
	"github.com/bentobuild/bento/internal/tomlfile"
)

// readTOML reads a configuration file of a workspace to change it; a missing one is empty. It
// refuses a link that leads out of the workspace.
func readTOML(root, file string) (*tomlfile.File, error) {
	data, err := clone.At(root).Read(file, tomlfile.MaxConfig)
	var stray *clone.StrayError
	if err != nil && (errors.As(err, &stray) || !errors.Is(err, fs.ErrNotExist)) {
		return nil, notFound(config.RuleUnreadable, fmt.Sprintf("%s cannot be read: %v", file, err), "")
	}
	f, problems := tomlfile.Parse(file, data)
	if f == nil {
		return nil, diagnostics.AsError(problems)
	}
	return f, nil
}

// writeTOML creates or replaces a configuration file; for a link, it replaces the target. It writes no file
// outside of the workspace.
func writeTOML(root, file string, data []byte) error {
	err := clone.At(root).Replace(file, data, 0o644)
	var stray *clone.StrayError
	if errors.As(err, &stray) {
		return notFound(clone.RuleLink, fmt.Sprintf("%s cannot be written: %v", file, stray), "replace the link by a file")
	}
	return err
}
