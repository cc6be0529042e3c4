package tree

import (
	"strings"
	"sync"
	"sync/atomic"

	"github.com/bentobuild/bento/internal/git"
	"github.com/bentobuild/bento/internal/tree/disk"
	"github.com/bentobuild/bento/internal/tree/ignore"
)

// dirNode is a walked directory.
type dirNode struct {
	Path    string   // "" is the root
	Above   *dirNode // nil for the root
	Ignores nodeIgnores
	Only    bool         // ignored, and only walked for its tracked files
	Linked  bool         // another work tree of a repository, so Only is set, too
	Missing bool         // removed before it was read
	Listed  bool         // its names were read, not taken from the index
	Same    bool         // it and the files directly in it are unchanged since the index
	Flawed  bool         // some entry could not be read
	Whole   bool         // when it was listed, only bento's own names and .git were left out
	Entries []disk.Entry // its own entries, sorted; see Files
	Dirs    []*dirNode   // sorted as if with "/" at the end
	Flat    []disk.Entry // all entries below, sorted; nil until needed
	Stamp   disk.Stamp
	Looked  int64  // time of the stat, in nanoseconds since 1970
	Was     uint32 // its number in the index plus one, 0 for none
	Ruled   bool   // the ignore rules from above are unchanged
	// Tracks returns the tracked files of the repository whose work tree starts at n, relative to
	// n. It is nil where n has no .git, and for the root.
	Tracks func() *git.Files
	late   deferredFiles
	last   atomic.Uint32 // the index in Dirs of the one that Child found last
}

// nodeIgnores is the ignore file of a directory.
type nodeIgnores struct {
	Text  string
	Rules *ignore.Rules // including those from above
	Once  sync.Once
	There bool // the file exists
	Read  bool // it was read into Text
	Bad   bool // it is unreadable
}

// Tracked reports whether a repository inside the root that contains n tracks the file path.
func (n *dirNode) Tracked(path string) bool {
	return n.inRepo(path, (*git.Files).Has)
}

// TrackedIn reports whether a repository inside the root that contains n tracks a file below the
// directory path.
func (n *dirNode) TrackedIn(path string) bool {
	return n.inRepo(path, (*git.Files).HasIn)
}

// TrackedLink reports whether path is a submodule of a repository inside the root that contains n.
func (n *dirNode) TrackedLink(path string) bool {
	return n.inRepo(path, (*git.Files).HasLink)
}

func (n *dirNode) inRepo(path string, has func(*git.Files, string) bool) bool {
	for ; n != nil; n = n.Above {
		if n.Tracks != nil && len(path) > len(n.Path)+1 && has(n.Tracks(), path[len(n.Path)+1:]) {
			return true
		}
	}
	return false
}

// count returns the number of entries below n.
func (n *dirNode) count() int {
	if n.Flat != nil {
		return len(n.Flat)
	}
	sum := len(n.Files())
	for _, d := range n.Dirs {
		sum += d.count()
	}
	return sum
}

// View returns all entries below n, sorted. The lists of directories below are slices of it.
func (n *dirNode) View() []disk.Entry {
	if n.Flat == nil {
		n.fill(make([]disk.Entry, 0, n.count()))
	}
	return n.Flat
}

// fill appends the entries below n to out, which has enough capacity.
func (n *dirNode) fill(out []disk.Entry) []disk.Entry {
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

// Child returns the directory path directly in n, nil if it was not walked.
func (n *dirNode) Child(path string) *dirNode {
	last := int(n.last.Load()) // callers mostly ask for the directories in their order
	for i := last; i < min(last+2, len(n.Dirs)); i++ {
		if n.Dirs[i].Path == path {
			return n.found(i)
		}
	}
	from := 0 // the paths have n's own in common
	if n.Path != "" {
		from = len(n.Path) + 1
	}
	low, high := 0, len(n.Dirs)
	for low < high {
		mid := int(uint(low+high) / 2)
		switch c := disk.CompareDirs(path[from:], n.Dirs[mid].Path[from:]); {
		case c == 0:
			return n.found(mid)
		case c < 0:
			high = mid
		default:
			low = mid + 1
		}
	}
	return nil
}

// found notes and returns the directory that Child has found.
func (n *dirNode) found(at int) *dirNode {
	if n.last.Load() != uint32(at) {
		n.last.Store(uint32(at))
	}
	return n.Dirs[at]
}

// Find returns the directory path, which is n or below it, or its last walked parent.
func (n *dirNode) Find(path string) *dirNode {
	end := len(n.Path)
	if end > 0 {
		end++
	}
	for ; end < len(path); end++ {
		if i := strings.IndexByte(path[end:], '/'); i >= 0 {
			end += i
		} else {
			end = len(path)
		}
		next := n.Child(path[:end])
		if next == nil {
			break
		}
		n = next
	}
	return n
}

// parentPath returns the parent of path, "" for the root.
func parentPath(path string) string { return path[:max(0, strings.LastIndexByte(path, '/'))] }

// Name returns the name of path, which is directly in n.
func (n *dirNode) Name(path string) string {
	if n.Path == "" {
		return path
	}
	return path[len(n.Path)+1:]
}
