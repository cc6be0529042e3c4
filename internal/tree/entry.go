package tree

import (
	"github.com/bentobuild/bento/internal/tree/disk"
	"github.com/bentobuild/bento/internal/tree/glob"
)

// Entry is one file or link in the workspace, as lstat returns it.
type Entry = disk.Entry

// Stamp is the part of a stat that every change of a file changes.
type Stamp = disk.Stamp

// Kind is the type of an Entry. Only Expand and Stat return Dir.
type Kind = disk.Kind

// The four kinds. Special is a FIFO, a socket or a device.
const (
	File    = disk.File
	Link    = disk.Link
	Special = disk.Special
	Dir     = disk.Dir
)

// Stat returns the current entry at a path relative to root. It follows no link.
func Stat(root, path string) (Entry, error) { return disk.Stat(root, path) }

// Stat is Stat at the tree's root, even if that was moved since the walk. It costs less.
func (t *Tree) Stat(path string) (Entry, error) {
	e := Entry{Path: path}
	if err := t.disk.Stat(&e); err != nil {
		return Entry{}, err
	}
	return e, nil
}

// Readlink returns the target of the symbolic link at an entry.
func (t *Tree) Readlink(e Entry) (string, error) { return disk.Readlink(t.root, e.Path) }

// Set is a list of globs that matches paths.
type Set struct{ glob.Set }

// GlobError is the reason why a glob passed to CompileSet is invalid.
type GlobError = glob.Error

// CompileSet returns the Set of globs as written in a configuration file, relative to the directory
// base; see glob.Compile. The error joins a *GlobError for each invalid glob.
func CompileSet(base string, globs []string) (*Set, error) {
	s, err := glob.Compile(base, globs)
	if err != nil {
		return nil, err
	}
	return &Set{*s}, nil
}

// Unmatched returns the indices of the globs, without negated ones, that match none of entries.
func (s *Set) Unmatched(entries []Entry) []int {
	return s.Set.Unmatched(func(yield func(string) bool) {
		for i := range entries {
			if !yield(entries[i].Path) {
				return
			}
		}
	})
}
