// Package git answers the few questions that bento has for git. What git keeps in
// plain files is read from them; git itself is started only where that is not
// enough.
package git

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Repo is a repository with a work tree. It is immutable.
type Repo struct {
	top    string // of the work tree
	dir    string // .git, or what a .git file leads to
	common string // the same, or for a linked work tree that of the main one
}

// Open finds the repository whose work tree dir, an absolute path, is part of. It
// looks for .git in dir and above, as git does, and starts no process; links in
// dir are resolved. Both results are nil when there is none.
func Open(dir string) (*Repo, error) {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, err
	}
	for top := real; ; top = filepath.Dir(top) {
		r, err := At(top)
		if r != nil || err != nil {
			return r, err
		}
		if filepath.Dir(top) == top {
			return nil, nil
		}
	}
}

// TopLevel gives the absolute path of the work tree, without links.
func (r *Repo) TopLevel() string { return r.top }

// Prefix gives the path of dir below the top level with forward slashes, "" for
// the top level itself. Dir is what Open was given, or a directory inside.
func (r *Repo) Prefix(dir string) (string, error) {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", err
	}
	rel, err := filepath.Rel(r.top, real)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", fmt.Errorf("directory %q: not in the work tree %q", dir, r.top)
	}
	if rel == "." {
		return "", nil
	}
	return filepath.ToSlash(rel), nil
}

// ExcludeFile gives the absolute path of info/exclude, which need not exist.
func (r *Repo) ExcludeFile() string { return filepath.Join(r.common, "info", "exclude") }

// IndexFile gives the absolute path of the index, which need not exist.
func (r *Repo) IndexFile() string { return filepath.Join(r.dir, "index") }

// ErrNoRepo is wrapped by Open and At when a .git file names a repository that is not
// there.
var ErrNoRepo = errors.New("there is no repository")

// At returns the repository whose work tree begins at top, an absolute path without
// links, or nil when there is none.
func At(top string) (*Repo, error) {
	dot := filepath.Join(top, ".git")
	fi, err := os.Stat(dot)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
			return nil, nil
		}
		return nil, err
	}
	dir := dot
	if !fi.IsDir() {
		if dir, err = link(dot, "gitdir: "); err != nil {
			return nil, err
		}
	}
	common := dir
	if c, err := link(filepath.Join(dir, "commondir"), ""); err == nil {
		common = c
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	there, err := isRepo(dir, common)
	switch {
	case err != nil:
		return nil, err
	case there:
		return &Repo{top: top, dir: dir, common: common}, nil
	case dir != dot:
		return nil, fmt.Errorf("%q leads to %q: %w", dot, dir, ErrNoRepo)
	}
	return nil, nil // git passes over a directory .git that is none
}

// isRepo reports whether the two directories are those of a repository. The error says
// that nobody can tell.
func isRepo(dir, common string) (bool, error) {
	if _, err := os.Lstat(filepath.Join(dir, "HEAD")); err != nil {
		return false, unlessGone(err)
	}
	for _, name := range []string{"objects", "refs"} {
		if fi, err := os.Stat(filepath.Join(common, name)); err != nil || !fi.IsDir() {
			return false, unlessGone(err)
		}
	}
	return true, nil
}

// unlessGone returns err unless it says that something is not there.
func unlessGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil
	}
	return err
}

// maxLink bounds a file that holds one path.
const maxLink = 16 << 10

// link reads a file that holds a path, relative to its own directory, behind
// prefix.
func link(file, prefix string) (string, error) {
	fi, err := os.Stat(file)
	if err != nil {
		return "", err
	}
	if !fi.Mode().IsRegular() || fi.Size() > maxLink {
		return "", fmt.Errorf("%q: not a file that holds a path", file)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	path, ok := bytes.CutPrefix(bytes.TrimRight(data, "\r\n"), []byte(prefix))
	if !ok || len(path) == 0 || bytes.IndexByte(path, 0) >= 0 {
		return "", fmt.Errorf("%q: expected %q and a path", file, prefix)
	}
	to := filepath.FromSlash(string(path))
	if !filepath.IsAbs(to) {
		to = filepath.Join(filepath.Dir(file), to)
	}
	return filepath.Clean(to), nil
}
