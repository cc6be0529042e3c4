package tree

import (
	"github.com/bentobuild/bento/internal/tree/ignore"
	"github.com/bentobuild/bento/internal/tree/problem"
	"github.com/bentobuild/bento/internal/tree/table"
)

// before is what the index says of directories. Nil says nothing.
type before struct{ *table.Table }

// newBefore gives what the index says, nil when it has nothing.
func newBefore(t *table.Table) *before {
	if t.Dirs() == 0 {
		return nil
	}
	return &before{t}
}

// asBefore fills n from the index. It can when the directory has the stamp that it
// had and nothing that ignores has changed: then it holds the names that it held,
// and only the files themselves have to be looked at, which is put off.
func (v *visit) asBefore(n *node) bool {
	if v.before == nil || n.was == 0 || !n.ruled {
		return false
	}
	i := int(n.was) - 1
	d := v.before.Dir(i)
	var now Entry
	if !d.Settled || v.StatPath(n.path, &now) != nil || now.Stamp() != d.Stamp {
		return false
	}
	from, to := v.before.FilesOf(i)
	for k := from; k < to; k++ {
		path, kind := v.before.File(k)
		if path[len(path)-nameLen(path, n.path):] == ignore.File {
			e := Entry{Path: path}
			if v.StatPath(path, &e) != nil || !v.before.Same(k, &e) {
				return false
			}
			n.ignores.there = true
		}
		if kind == Special {
			v.problem(problem.Special(path))
		}
	}
	n.stamp, n.late.is = d.Stamp, true
	v.dirsAsBefore(n, i)
	return true
}

// nameLen gives the length of the name of path, which is right in dir.
func nameLen(path, dir string) int {
	if dir == "" {
		return len(path)
	}
	return len(path) - len(dir) - 1
}

// dirsAsBefore gives n, which is directory i of the index, its directories.
func (v *visit) dirsAsBefore(n *node, i int) {
	count := 0
	for k := i + 1; k < v.before.Below(i); k = v.before.Below(k) {
		count++
	}
	if count == 0 {
		return
	}
	nodes := make([]node, count)
	n.dirs = make([]*node, count)
	for at, k := 0, i+1; at < count; at, k = at+1, v.before.Below(k) {
		d := v.before.Dir(k)
		n.dirs[at] = &nodes[at]
		nodes[at].path, nodes[at].above = d.Path, n
		nodes[at].was, nodes[at].ruled = uint32(k+1), true
	}
}

// match finds what the index says of n, which was listed.
func (b *before) match(n *node) {
	if b == nil || n.was == 0 {
		return
	}
	from, to := b.FilesOf(int(n.was) - 1)
	for i := range n.entries {
		if k := b.FindIn(from, to, n.entries[i].Path); k >= 0 {
			n.entries[i].Slot = b.slot(k, &n.entries[i])
		}
	}
	ruled := n.ruled && !n.only && b.sameIgnores(n, b.FindIn(from, to, join(n.path, ignore.File)))
	for _, d := range n.dirs {
		d.was, d.ruled = uint32(b.FindDir(d.path)+1), ruled && !d.only
	}
}

// sameIgnores tells whether the ignore file of n is file k, or there is none when
// k is negative.
func (b *before) sameIgnores(n *node, k int) bool {
	if k < 0 {
		return !n.ignores.there
	}
	e, ok := n.ignoreEntry()
	return ok && b.Same(k, &e)
}

// slot gives one more than k if the digest of file k is that of e, else 0.
func (b *before) slot(k int, e *Entry) uint32 {
	if _, known := b.Sum(k); known && b.Same(k, e) {
		return uint32(k + 1)
	}
	return 0
}
