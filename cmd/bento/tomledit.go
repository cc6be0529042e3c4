package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/config"
	"github.com/bentobuild/bento/internal/state"
	"github.com/bentobuild/bento/internal/tomlfile"
)

// readTOML reads a configuration file of a workspace to change it; one that is not
// there is empty.
func readTOML(root, file string) (*tomlfile.File, error) {
	data, err := readInside(root, file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, notFound(config.RuleUnreadable, fmt.Sprintf("%s cannot be read: %v", file, err), "")
	}
	f, problems := tomlfile.Parse(file, data)
	if f == nil {
		return nil, diagnostics.AsError(problems)
	}
	return f, nil
}

// readInside reads a regular file of the workspace: what is changed must not lie
// elsewhere, where a link of a foreign repository may lead.
func readInside(root, file string) ([]byte, error) {
	name, err := filepath.EvalSymlinks(filepath.Join(root, filepath.FromSlash(file)))
	if err != nil {
		return nil, err
	}
	rel, err := filepath.Rel(root, name)
	if err != nil || !filepath.IsLocal(rel) {
		return nil, fmt.Errorf("it leads out of the workspace to %q", name)
	}
	if fi, err := os.Stat(name); err != nil || !fi.Mode().IsRegular() {
		return nil, errors.Join(err, errors.New("it is no regular file"))
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, tomlfile.MaxConfig+1))
}

// writeTOML replaces a configuration file that was read, through a link to what it
// leads to, or makes it.
func writeTOML(root, file string, data []byte) error {
	name := filepath.Join(root, filepath.FromSlash(file))
	if real, err := filepath.EvalSymlinks(name); err == nil {
		name = real
	}
	return state.WriteFile(name, data, 0o644)
}
