package discovery

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/clone"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/owner"
)

// RuleNoWorkspace is the rule of FindRoot's problem.
const RuleNoWorkspace = "workspace_not_found"

// RootOptions are the starts of FindRoot: the first of Dir, Env and Cwd that is not empty.
type RootOptions struct {
	Dir string // flag -C
	Env string // $BENTO_WORKSPACE_ROOT
	Cwd string // absolute; the others are relative to it

	// PassedOver, when not nil, is called with the reason why a directory that looks like a
	// workspace is skipped.
	PassedOver func(why string)
}

// FindRoot returns the absolute path, free of symbolic links, of the workspace. That is the nearest
// directory at or above the start that has bento.toml or bentos/, else the git top level. The user, root
// or the owner of the start must own the directory and the file that makes it a workspace. Modes are
// ignored, because volumes of containers are often writable for all. The error, which is
// diagnostics.Problems, names the skipped directories.
func FindRoot(o RootOptions) (string, error) {
	start, from := o.start()
	real, err := filepath.EvalSymlinks(start)
	if at := (*fs.PathError)(nil); errors.As(err, &at) {
		err = at.Err // the message includes the path
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
	message := fmt.Sprintf("no workspace at or above %q%s: looked for %s, %s/ and .git", real, from, dish.WorkspaceFile, dish.BentosDir)
	for _, why := range passed {
		message += "; " + why
	}
	return "", noWorkspace(message, "bento init, in the root directory of your repository, makes it one; so does an empty "+dish.WorkspaceFile)
}

// notOurs returns why dir is no workspace although it contains name: another user may have created it, and
// bento runs the tasks of a workspace. It returns "" for a workspace.
func notOurs(trusted owner.Trusted, dir, name string) string {
	for _, path := range []string{dir, filepath.Join(dir, name)} {
		fi, err := os.Lstat(path)
		switch {
		case err != nil:
			return fmt.Sprintf("%q is skipped: %v", dir, err)
		case !trusted.Trusts(fi):
			return fmt.Sprintf("%q is skipped: %q belongs to %s", dir, path, owner.Name(fi))
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

// holdsConfig returns the name of the file that makes dir a workspace, or "". It ignores a link that leads
// out of dir.
func holdsConfig(dir string) string {
	isDir := func(name string) (is, there bool) {
		fi, err := os.Lstat(filepath.Join(dir, name))
		if err != nil || fi.Mode()&fs.ModeSymlink == 0 {
			return err == nil && fi.IsDir(), err == nil
		}
		mode, err := clone.At(dir).Mode(name)
		return mode.IsDir(), err == nil
	}
	if is, there := isDir(dish.WorkspaceFile); there && !is {
		return dish.WorkspaceFile
	}
	if is, _ := isDir(dish.BentosDir); is {
		return dish.BentosDir
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
	return diagnostics.Refuse(RuleNoWorkspace, hint, "%s", message)
}
