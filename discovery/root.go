package discovery

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/clone"
	"github.com/bentobuild/bento/internal/config"
)

// RuleNoWorkspace is the rule of the problem that FindRoot gives.
const RuleNoWorkspace = "workspace_not_found"

// RootOptions says where FindRoot starts: the first of Dir, Env and Cwd that is
// not empty.
type RootOptions struct {
	Dir string // the flag -C
	Env string // $BENTO_WORKSPACE_ROOT
	Cwd string // absolute; what the others are relative to
}

// FindRoot gives the absolute path, free of symbolic links, of the workspace: the
// nearest directory at or above the start that holds bento.toml or bentos/, else
// the git top level. The error is diagnostics.Problems.
func FindRoot(o RootOptions) (string, error) {
	start, from := o.start()
	real, err := filepath.EvalSymlinks(start)
	if at := (*fs.PathError)(nil); errors.As(err, &at) {
		err = at.Err // the message has the path already
	}
	if err != nil {
		return "", noWorkspace(fmt.Sprintf("workspace directory %q%s: %v", start, from, err), "")
	}
	if fi, err := os.Stat(real); err != nil || !fi.IsDir() {
		return "", noWorkspace(fmt.Sprintf("workspace directory %q%s is not a directory", start, from), "")
	}
	for _, holds := range []func(dir string) bool{holdsConfig, holdsGit} {
		for dir := real; ; dir = filepath.Dir(dir) {
			if holds(dir) {
				return dir, nil
			}
			if dir == filepath.Dir(dir) {
				break
			}
		}
	}
	return "", noWorkspace(
		fmt.Sprintf("no workspace at or above %q%s: looked for %s, %s/ and .git", real, from, config.WorkspaceFile, config.BentosDir),
		"make an empty "+config.WorkspaceFile+" in the directory that is to be the workspace")
}

func (o RootOptions) start() (dir, from string) {
	switch {
	case o.Dir != "":
		dir, from = o.Dir, " (of -C)"
	case o.Env != "":
		dir, from = o.Env, " (of $BENTO_WORKSPACE_ROOT)"
	default:
		dir = o.Cwd
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(o.Cwd, dir)
	}
	return dir, from
}

// holdsConfig reports whether dir says itself that it is a workspace: a link that leads
// out of it says nothing.
func holdsConfig(dir string) bool {
	isDir := func(name string) (is, there bool) {
		fi, err := os.Lstat(filepath.Join(dir, name))
		if err != nil || fi.Mode()&fs.ModeSymlink == 0 {
			return err == nil && fi.IsDir(), err == nil
		}
		mode, err := clone.At(dir).Mode(name)
		return mode.IsDir(), err == nil
	}
	if is, there := isDir(config.WorkspaceFile); there && !is {
		return true
	}
	is, _ := isDir(config.BentosDir)
	return is
}

func holdsGit(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, ".git"))
	return err == nil
}

func noWorkspace(message, hint string) error {
	return diagnostics.Problems{{
		Severity: diagnostics.Error, Message: message, Rule: RuleNoWorkspace, Source: diagnostics.Source, Hint: hint,
	}}
}
