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
// and only the files themselves have to be looked at.
func (v *visit) asBefore(n *node) bool {
	if v.before == nil || n.was == 0 || !n.ruled {
		return false
	}
	i := int(n.was) - 1
	if d := v.before.Dir(i); !d.Settled || d.Stamp != n.stamp {
		return false
	}
	from, to := v.before.FilesOf(i)
	entries := make([]Entry, to-from)
	n.same = true
	for k := from; k < to; k++ {
		if !v.fileAsBefore(n, k, &entries[k-from]) {
			n.ignores, n.same = ignores{}, false
			return false
		}
	}
	n.entries = entries
	for k := range n.entries {
		if e := &n.entries[k]; e.Kind == Special {
			v.problem(problem.Special(e.Path))
		}
	}
	v.dirsAsBefore(n, i)
	return true
}

// fileAsBefore looks at file k, which is in n. It is false when that is something
// else now, so that the directory has to be read after all.
func (v *visit) fileAsBefore(n *node, k int, e *Entry) bool {
	path, kind := v.before.File(k)
	*e = Entry{Path: path}
	name := path[len(path)-nameLen(path, n.path):]
	if err := v.StatName(name, e); err != nil || e.Kind != kind {
		return false
	}
	same := v.before.Same(k, e)
	n.same = n.same && same
	if _, known := v.before.Sum(k); known && same {
		e.Slot = uint32(k + 1)
	}
	if name == ignore.File {
		n.ignores.there = true
		return same
	}
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
		nodes[at].path, nodes[at].above, nodes[at].before = d.Path, n, d.Before
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
