// Package git reads what bento needs from a git repository. It reads git's plain files, and starts
// git itself only where they do not suffice.
package git

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
)

// Repo is a repository with a work tree. It is immutable.
type Repo struct {
	top    string // of the work tree
	dir    string // .git, or the target of a .git file
	common string // dir, or for a linked work tree that of the main work tree
	ready  func() error
}

// Open returns the repository with the work tree that contains dir, an absolute path, and the work
// tree's top level. It looks for .git in dir and above, as git does, resolves links in dir, and
// starts no process. Both results are nil when there is none.
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

// TopLevel returns the absolute path of the work tree, without links.
func (r *Repo) TopLevel() string { return r.top }

// Linked reports whether the work tree was made by git worktree add. A submodule's was not.
func (r *Repo) Linked() bool { return r.dir != r.common }

// Prefix returns the path of dir below the top level with forward slashes, "" for the top level
// itself. dir is the argument of Open, or a directory inside.
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

// ExcludeFile returns the absolute path of info/exclude, which may be missing.
func (r *Repo) ExcludeFile() string { return filepath.Join(r.common, "info", "exclude") }

// IndexFile returns the absolute path of the index, which may be missing.
func (r *Repo) IndexFile() string { return filepath.Join(r.dir, "index") }

// Open and At wrap ErrNoRepo when a .git file names a missing repository.
var ErrNoRepo = errors.New("the repository was not found")

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
		r := &Repo{top: top, dir: dir, common: common}
		r.ready = sync.OnceValue(r.stalls)
		return r, nil
	case dir != dot:
		return nil, fmt.Errorf("%q leads to %q: %w", dot, dir, ErrNoRepo)
	}
	return nil, nil // git skips a directory .git that is no repository
}

// isRepo reports whether the two directories are those of a repository. It returns an error when it
// cannot find out.
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

// unlessGone returns err unless it says that a path is missing.
func unlessGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil
	}
	return err
}

// maxLink is the largest size of a file that contains one path.
const maxLink = 16 << 10

// link reads a file that contains a path after prefix, relative to the file's directory.
func link(file, prefix string) (string, error) {
	data, err := readBounded(file, maxLink)
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
