package tree

import (
	"cmp"
	"sort"
	"strings"

	"github.com/bentobuild/bento/internal/tree/disk"
	"github.com/bentobuild/bento/internal/tree/ignore"
)

// node is a directory that was walked.
type node struct {
	path    string        // "" is the root
	rules   *ignore.Rules // for what is in it, its own ignore file included
	only    bool          // it is ignored, and here for the tracked files in it alone
	entries []Entry       // what it holds itself, sorted
	dirs    []*node       // sorted as if with "/" behind
	before  int           // how many of the parent's entries come first
	flat    []Entry       // all below, sorted; nil until asked for
	missing bool          // it was not there when it was to be read
}

// count gives the number of entries below n.
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

// number gives each entry below n its place in the sorted list, from next on.
func (n *node) number(next uint32) uint32 {
	prev := 0
	own := func(to int) {
		for ; prev < to; prev++ {
			next++
			n.entries[prev].Slot = next
		}
	}
	for _, d := range n.dirs {
		own(d.before)
		next = d.number(next)
	}
	own(len(n.entries))
	return next
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
	start, prev := len(out), 0
	switch {
	case n.flat != nil:
		out = append(out, n.flat...)
	default:
		for _, d := range n.dirs {
			out = append(out, n.entries[prev:d.before]...)
			prev = d.before
			out = d.fill(out)
		}
		out = append(out, n.entries[prev:]...)
	}
	n.flat = out[start:len(out):len(out)]
	return out
}

// child gives the directory path right in n, nil when it was not walked.
func (n *node) child(path string) *node {
	i, ok := sort.Find(len(n.dirs), func(i int) int { return compareDirs(path, n.dirs[i].path) })
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

// compareDirs compares a and b as if both had "/" behind: so the list of a
// directory's entries and that of everything below it are in one order.
func compareDirs(a, b string) int {
	n := min(len(a), len(b))
	if c := strings.Compare(a[:n], b[:n]); c != 0 || len(a) == len(b) {
		return c
	}
	return cmp.Or(cmp.Compare(byteAt(a, n), byteAt(b, n)), cmp.Compare(len(a), len(b)))
}

func byteAt(s string, i int) byte {
	if i < len(s) {
		return s[i]
	}
	return '/'
}

// search gives the first position in sorted entries whose path is not before path.
func search(entries []Entry, path string) int {
	return sort.Search(len(entries), func(i int) bool { return entries[i].Path >= path })
}

// lookup finds path in sorted entries.
func lookup(entries []Entry, path string) (Entry, bool) {
	if i := search(entries, path); i < len(entries) && entries[i].Path == path {
		return entries[i], true
	}
	return Entry{}, false
}
