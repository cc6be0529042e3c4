// Package bounds finds programs and environment values that lead into the clone.
//
// The author of the repository controls the files of the clone. Commands that only read start none of
// its programs, even if PATH, a link or a variable of the user leads to one.
package bounds

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// Area is the directories of a clone: the root of a workspace, and every git work tree around it. The
// root of the file system and the user's home are never part of it: they contain more than a
// repository. It is safe for concurrent use; a nil Area contains nothing.
type Area struct {
	dirs func() []string // free of links
}

// Of returns the area of the workspace or work tree at root, an absolute path, or "" for none. The
// first query reads the file system.
func Of(root string) *Area {
	return &Area{dirs: sync.OnceValue(func() []string { return dirsOf(root) })}
}

func dirsOf(root string) (dirs []string) {
	if root == "" {
		return nil
	}
	real, err := filepath.EvalSymlinks(root)
	if err != nil {
		real = filepath.Clean(root)
	}
	home, err := os.UserHomeDir()
	if err == nil {
		home, err = filepath.EvalSymlinks(home)
	}
	if err != nil {
		home = "/"
	}
	for dir := real; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if dir == home {
			continue
		}
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil || dir == real {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// maxLinks is the largest number of links followed, as in the kernel.
const maxLinks = 40

// Reached reports whether a path, or a link on its way, leads into the area. It returns true for a
// relative path and for one in /proc: they depend on the process that uses them.
func (a *Area) Reached(path string) bool {
	if !filepath.IsAbs(path) {
		return true
	}
	if a == nil {
		return false
	}
	at, links := "/", 0
	for rest := parts(path); len(rest) > 0; {
		next := filepath.Join(at, rest[0])
		rest = rest[1:]
		if next == "/proc" || slices.Contains(a.dirs(), next) {
			return true
		}
		target, err := os.Readlink(next)
		if err != nil {
			at = next
			continue
		}
		if links++; links > maxLinks {
			return true // a broken link
		}
		if filepath.IsAbs(target) {
			at = "/"
		}
		rest = append(parts(target), rest...)
	}
	return false
}

// parts returns the elements of a path.
func parts(path string) []string {
	return slices.DeleteFunc(strings.Split(path, "/"), func(part string) bool { return part == "" || part == "." })
}

// Path returns the entries of a value of PATH outside the area.
func (a *Area) Path(value string) []string {
	return slices.DeleteFunc(filepath.SplitList(value), a.Reached)
}

// ErrNotFound is the error of LookPath.
var ErrNotFound = errors.New("not on PATH outside of the workspace")

// LookPath returns the absolute path of the first tool on path, a value of PATH, that does not lead
// into the area.
func (a *Area) LookPath(path, tool string) (string, error) {
	for _, dir := range a.Path(path) {
		if found, err := exec.LookPath(filepath.Join(dir, tool)); err == nil && !a.Reached(found) {
			return found, nil
		}
	}
	return "", ErrNotFound
}
