package tree

import (
	"github.com/bentobuild/bento/internal/tree/disk"
	"github.com/bentobuild/bento/internal/tree/glob"
)

// Entry is one thing in the workspace, as lstat tells.
type Entry = disk.Entry

// Stamp is the part of a stat that changes whenever something is changed.
type Stamp = disk.Stamp

// Kind is what an Entry is. Dir comes from Expand and Stat only.
type Kind = disk.Kind

// The four kinds. Special is a FIFO, a socket or a device.
const (
	File    = disk.File
	Link    = disk.Link
	Special = disk.Special
	Dir     = disk.Dir
)

// Stat looks at one path, relative to root, now. It follows no link.
func Stat(root, path string) (Entry, error) { return disk.Stat(root, path) }

// Readlink gives what the symbolic link at an entry says.
func (t *Tree) Readlink(e Entry) (string, error) { return disk.Readlink(t.root, e.Path) }

// Set is a list of globs that decides which paths are meant.
type Set struct{ glob.Set }

// GlobError says what is wrong with one of the globs given to CompileSet.
type GlobError = glob.Error

// CompileSet makes a Set of globs as written in a configuration file, relative to
// the directory base; see glob.Compile. The error joins a *GlobError for each glob
// that is wrong.
func CompileSet(base string, globs []string) (*Set, error) {
	s, err := glob.Compile(base, globs)
	if err != nil {
		return nil, err
	}
	return &Set{*s}, nil
}

// Unmatched gives the indexes of the globs, not counting negated ones, that match
// none of entries.
func (s *Set) Unmatched(entries []Entry) []int {
	return s.Set.Unmatched(func(yield func(string) bool) {
		for i := range entries {
			if !yield(entries[i].Path) {
				return
			}
		}
	})
}
