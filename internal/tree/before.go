package tree

import (
	"github.com/bentobuild/bento/internal/tree/ignore"
	"github.com/bentobuild/bento/internal/tree/node"
	"github.com/bentobuild/bento/internal/tree/problem"
)

// asBefore fills n from the index. It can when the directory has the stamp that it
// had and nothing that ignores has changed: then it holds the names that it held,
// and only the files themselves have to be looked at, which is put off.
func (v *visit) asBefore(n *node.Node) bool {
	if v.before == nil || n.Was == 0 || !n.Ruled {
		return false
	}
	i := int(n.Was) - 1
	d := v.before.Dir(i)
	var now Entry
	if !d.Settled || v.StatPath(n.Path, &now) != nil || now.Stamp() != d.Stamp {
		return false
	}
	var special []string
	from, to := v.before.FilesOf(i)
	for k := from; k < to; k++ {
		path, kind := v.before.File(k)
		if n.Name(path) == ignore.File {
			e := Entry{Path: path}
			if v.StatPath(path, &e) != nil || !v.before.Same(k, &e) {
				return false
			}
			n.Ignores.There = true
		}
		if kind == Special {
			special = append(special, path)
		}
	}
	for _, path := range special {
		v.problem(problem.Special(path))
	}
	n.Stamp = d.Stamp
	n.PutOff(v.before)
	v.dirsAsBefore(n, i)
	return true
}

// dirsAsBefore gives n, which is directory i of the index, its directories.
func (v *visit) dirsAsBefore(n *node.Node, i int) {
	count := 0
	for k := i + 1; k < v.before.Below(i); k = v.before.Below(k) {
		count++
	}
	if count == 0 {
		return
	}
	nodes := make([]node.Node, count)
	n.Dirs = make([]*node.Node, count)
	for at, k := 0, i+1; at < count; at, k = at+1, v.before.Below(k) {
		d := v.before.Dir(k)
		n.Dirs[at] = &nodes[at]
		nodes[at].Path, nodes[at].Above = d.Path, n
		nodes[at].Was, nodes[at].Ruled = uint32(k+1), true
	}
}

// match finds what the index says of n, which was listed.
func (v *visit) match(n *node.Node) {
	b := v.before
	if b == nil || n.Was == 0 {
		return
	}
	from, to := b.FilesOf(int(n.Was) - 1)
	for i := range n.Entries {
		if k := b.FindIn(from, to, n.Entries[i].Path); k >= 0 {
			n.Entries[i].Slot = b.Slot(k, &n.Entries[i])
		}
	}
	ruled := n.Ruled && !n.Only && sameIgnores(b, n, b.FindIn(from, to, join(n.Path, ignore.File)))
	for _, d := range n.Dirs {
		d.Was, d.Ruled = uint32(b.FindDir(d.Path)+1), ruled && !d.Only
	}
}

// sameIgnores tells whether the ignore file of n is file k, or there is none when
// k is negative.
func sameIgnores(b *node.Before, n *node.Node, k int) bool {
	if k < 0 {
		return !n.Ignores.There
	}
	e, ok := ignoreEntry(n)
	return ok && b.Same(k, &e)
}
