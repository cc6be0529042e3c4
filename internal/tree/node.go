package tree

import (
	"sort"
	"strings"

	"github.com/bentobuild/bento/internal/tree/disk"
)

// node is a directory that was walked.
type node struct {
	path    string // "" is the root
	above   *node  // nil for the root
	ignores ignores
	only    bool    // it is ignored, and here for the tracked files in it alone
	missing bool    // it was not there when it was to be read
	listed  bool    // its names were read, not taken from the index
	same    bool    // it and the files right in it are what the index says
	flawed  bool    // not all that is in it could be looked at
	entries []Entry // what it holds itself, sorted; see Tree.files
	dirs    []*node // sorted as if with "/" behind
	flat    []Entry // all below, sorted; nil until asked for
	stamp   disk.Stamp
	looked  int64  // when, in nanoseconds since 1970
	was     uint32 // one more than its number in the index, 0 for none
	ruled   bool   // what is ignored in it from above is what it was then
	late    late
}

// count gives the number of entries below n, which were all looked at.
func (n *node) count() int {
	if n.flat != nil {
		return len(n.flat)
	}
	sum := len(n.entries)
	for _, d := range n.dirs {
		sum += d.count()
	}
	return sum
}

// view gives all entries below n, sorted. Lists of directories below are parts of
// the same memory.
func (n *node) view() []Entry {
	if n.flat == nil {
		n.fill(make([]Entry, 0, n.count()))
	}
	return n.flat
}

// fill appends the entries below n to out, which has the room.
func (n *node) fill(out []Entry) []Entry {
	start, rest := len(out), n.entries
	switch {
	case n.flat != nil:
		out = append(out, n.flat...)
	default:
		for _, d := range n.dirs {
			before := disk.SearchDir(rest, d.path)
			out = d.fill(append(out, rest[:before]...))
			rest = rest[before:]
		}
		out = append(out, rest...)
	}
	n.flat = out[start:len(out):len(out)]
	return out
}

// child gives the directory path right in n, nil when it was not walked.
func (n *node) child(path string) *node {
	i, ok := sort.Find(len(n.dirs), func(i int) int { return disk.CompareDirs(path, n.dirs[i].path) })
	if !ok {
		return nil
	}
	return n.dirs[i]
}

// find gives the directory path below n, or the last one walked on the way there.
func (n *node) find(path string) *node {
	for at := range disk.Ends(path) {
		next := n.child(path[:at])
		if next == nil {
			break
		}
		n = next
	}
	return n
}

// parent gives the directory that path is in, "" for the root.
func parent(path string) string { return path[:max(0, strings.LastIndexByte(path, '/'))] }
