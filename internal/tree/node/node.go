// Package node is the directories that a walk has found, as a tree.
package node

import (
	"sort"
	"strings"
	"sync"

	"github.com/bentobuild/bento/internal/git"
	"github.com/bentobuild/bento/internal/tree/disk"
	"github.com/bentobuild/bento/internal/tree/ignore"
)

// Node is a directory that was walked.
type Node struct {
	Path    string // "" is the root
	Above   *Node  // nil for the root
	Ignores Ignores
	Only    bool         // it is ignored, and here for the tracked files in it alone
	Missing bool         // it was not there when it was to be read
	Listed  bool         // its names were read, not taken from the index
	Same    bool         // it and the files right in it are what the index says
	Flawed  bool         // not all that is in it could be looked at
	Entries []disk.Entry // what it holds itself, sorted; see Files
	Dirs    []*Node      // sorted as if with "/" behind
	Flat    []disk.Entry // all below, sorted; nil until asked for
	Stamp   disk.Stamp
	Looked  int64  // when, in nanoseconds since 1970
	Was     uint32 // one more than its number in the index, 0 for none
	Ruled   bool   // what is ignored in it from above is what it was then
	// Tracks returns what the repository tracks whose work tree begins at n, relative to
	// n. It is nil where n holds no .git, and for the root.
	Tracks func() *git.Files
	late   late
}

// Ignores is the ignore file of a directory.
type Ignores struct {
	There bool // there is one
	Read  bool // it was, and holds Text
	Bad   bool // it could not be
	Text  string
	Once  sync.Once
	Rules *ignore.Rules // with those from above
}

// Tracked reports whether one of the repositories inside the root that n lies in tracks
// the file path.
func (n *Node) Tracked(path string) bool {
	return n.inRepo(path, (*git.Files).Has)
}

// TrackedIn reports whether one of the repositories inside the root that n lies in
// tracks anything below the directory path.
func (n *Node) TrackedIn(path string) bool {
	return n.inRepo(path, (*git.Files).HasIn)
}

// TrackedLink reports whether path is a submodule of one of the repositories inside the
// root that n lies in.
func (n *Node) TrackedLink(path string) bool {
	return n.inRepo(path, (*git.Files).HasLink)
}

func (n *Node) inRepo(path string, has func(*git.Files, string) bool) bool {
	for ; n != nil; n = n.Above {
		if n.Tracks != nil && len(path) > len(n.Path)+1 && has(n.Tracks(), path[len(n.Path)+1:]) {
			return true
		}
	}
	return false
}

// count gives the number of entries below n.
func (n *Node) count() int {
	if n.Flat != nil {
		return len(n.Flat)
	}
	sum := len(n.Files())
	for _, d := range n.Dirs {
		sum += d.count()
	}
	return sum
}

// View gives all entries below n, sorted. Lists of directories below are parts of
// the same memory.
func (n *Node) View() []disk.Entry {
	if n.Flat == nil {
		n.fill(make([]disk.Entry, 0, n.count()))
	}
	return n.Flat
}

// fill appends the entries below n to out, which has the room.
func (n *Node) fill(out []disk.Entry) []disk.Entry {
	start, rest := len(out), n.Files()
	switch {
	case n.Flat != nil:
		out = append(out, n.Flat...)
	default:
		for _, d := range n.Dirs {
			before := disk.SearchDir(rest, d.Path)
			out = d.fill(append(out, rest[:before]...))
			rest = rest[before:]
		}
		out = append(out, rest...)
	}
	n.Flat = out[start:len(out):len(out)]
	return out
}

// Child gives the directory path right in n, nil when it was not walked.
func (n *Node) Child(path string) *Node {
	i, ok := sort.Find(len(n.Dirs), func(i int) int { return disk.CompareDirs(path, n.Dirs[i].Path) })
	if !ok {
		return nil
	}
	return n.Dirs[i]
}

// Find gives the directory path below n, or the last one walked on the way there.
func (n *Node) Find(path string) *Node {
	for at := range disk.Ends(path) {
		next := n.Child(path[:at])
		if next == nil {
			break
		}
		n = next
	}
	return n
}

// Parent gives the directory that path is in, "" for the root.
func Parent(path string) string { return path[:max(0, strings.LastIndexByte(path, '/'))] }

// Name gives the name of path, which is right in n.
func (n *Node) Name(path string) string {
	if n.Path == "" {
		return path
	}
	return path[len(n.Path)+1:]
}
