package tree

import (
	"github.com/bentobuild/bento/internal/tree/ignore"
)

// asBefore fills n from the index if the directory has the same stamp and no ignore rules have
// changed. Then the directory contains the same names. Only the files themselves must be checked,
// which asBefore leaves for later.
func (v *visit) asBefore(n *dirNode) bool {
	if v.before == nil || n.Was == 0 || !n.Ruled {
		return false
	}
	i := int(n.Was) - 1
	d := v.before.Dir(i)
	var now Entry
	if !d.Settled || v.StatPath(n.Path, &now) != nil || now.Stamp() != d.Stamp {
		return false
	}
	from, to := v.before.FilesOf(i)
	for k := from; k < to; k++ {
		path, _ := v.before.File(k)
		if n.Name(path) == ignore.File {
			e := Entry{Path: path}
			if v.StatPath(path, &e) != nil || !v.before.Same(k, &e) {
				return false
			}
			n.Ignores.There = true
		}
	}
	n.Stamp, n.Whole = d.Stamp, d.Whole
	n.PutOff(v.before)
	v.dirsAsBefore(n, i)
	return true
}

// dirsAsBefore adds the directories of n, which is directory i of the index.
func (v *visit) dirsAsBefore(n *dirNode, i int) {
	count := 0
	for k := i + 1; k < v.before.Below(i); k = v.before.Below(k) {
		count++
	}
	if count == 0 {
		return
	}
	nodes := make([]dirNode, count)
	n.Dirs = make([]*dirNode, count)
	for at, k := 0, i+1; at < count; at, k = at+1, v.before.Below(k) {
		d := v.before.Dir(k)
		n.Dirs[at] = &nodes[at]
		nodes[at].Path, nodes[at].Above = d.Path, n
		nodes[at].Was, nodes[at].Ruled = uint32(k+1), true
		// An ignored directory is never settled, so a settled one needs no rules.
		nodes[at].Only = !d.Settled && v.tree.rulesIn(n).Match(d.Path, true) == ignore.Ignored && !v.isLink(n, d.Path)
	}
}

// match finds the directory of n, which was listed, in the index.
func (v *visit) match(n *dirNode) {
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

// sameIgnores reports whether the ignore file of n is still file k, or still missing when k is
// negative.
func sameIgnores(b *indexedTree, n *dirNode, k int) bool {
	if k < 0 {
		return !n.Ignores.There
	}
	e, ok := ignoreEntry(n)
	return ok && b.Same(k, &e)
}
