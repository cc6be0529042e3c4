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
	"github.com/bentobuild/bento/internal/owner"
)

// RuleNoWorkspace is the rule of the problem that FindRoot gives.
const RuleNoWorkspace = "workspace_not_found"

// RootOptions says where FindRoot starts: the first of Dir, Env and Cwd that is
// not empty.
type RootOptions struct {
	Dir string // the flag -C
	Env string // $BENTO_WORKSPACE_ROOT
	Cwd string // absolute; what the others are relative to

	// PassedOver, where there is one, hears why a directory that looks like a
	// workspace is none.
	PassedOver func(why string)
}

// FindRoot gives the absolute path, free of symbolic links, of the workspace: the
// nearest directory at or above the start that holds bento.toml or bentos/, else
// the git top level. A directory counts only if it, and what makes it a workspace,
// belongs to the user, to root or to the owner of the start. Modes do not count: volumes
// of containers are often open to everybody. What is passed over is named in the error, if
// no other directory is found. The error is diagnostics.Problems.
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
	var passed []string
	trusted := owner.Of(real)
	for _, holds := range []func(dir string) string{holdsConfig, holdsGit} {
		for dir := real; ; dir = filepath.Dir(dir) {
			if name := holds(dir); name != "" {
				why := notOurs(trusted, dir, name)
				if why == "" {
					return dir, nil
				}
				passed = append(passed, why)
				if o.PassedOver != nil {
					o.PassedOver(why)
				}
			}
			if dir == filepath.Dir(dir) {
				break
			}
		}
	}
	message := fmt.Sprintf("no workspace at or above %q%s: looked for %s, %s/ and .git", real, from, config.WorkspaceFile, config.BentosDir)
	for _, why := range passed {
		message += "; " + why
	}
	return "", noWorkspace(message, "make an empty "+config.WorkspaceFile+" in the directory that is to be the workspace")
}

// notOurs returns why dir is no workspace although name in it says so: anybody else may
// have put it there, and bento runs what a workspace says. It is "" for one that counts.
func notOurs(trusted owner.Trusted, dir, name string) string {
	for _, path := range []string{dir, filepath.Join(dir, name)} {
		fi, err := os.Lstat(path)
		switch {
		case err != nil:
			return fmt.Sprintf("%q is passed over: %v", dir, err)
		case !trusted.Trusts(fi):
			return fmt.Sprintf("%q is passed over: %q belongs to %s", dir, path, owner.Name(fi))
		}
	}
	return ""
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

// holdsConfig returns the name of what says in dir that it is a workspace, "" where
// nothing does: a link that leads out of it says nothing.
func holdsConfig(dir string) string {
	isDir := func(name string) (is, there bool) {
		fi, err := os.Lstat(filepath.Join(dir, name))
		if err != nil || fi.Mode()&fs.ModeSymlink == 0 {
			return err == nil && fi.IsDir(), err == nil
		}
		mode, err := clone.At(dir).Mode(name)
		return mode.IsDir(), err == nil
	}
	if is, there := isDir(config.WorkspaceFile); there && !is {
		return config.WorkspaceFile
	}
	if is, _ := isDir(config.BentosDir); is {
		return config.BentosDir
	}
	return ""
}

func holdsGit(dir string) string {
	if _, err := os.Lstat(filepath.Join(dir, ".git")); err != nil {
		return ""
	}
	return ".git"
}

func noWorkspace(message, hint string) error {
	return diagnostics.Problems{{
		Severity: diagnostics.Error, Message: message, Rule: RuleNoWorkspace, Source: diagnostics.Source, Hint: hint,
	}}
}
