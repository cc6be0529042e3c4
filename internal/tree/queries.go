package tree

import (
	"slices"
	"strings"

	"github.com/zeebo/blake3"

	"github.com/bentobuild/bento/internal/state"
	"github.com/bentobuild/bento/internal/tree/disk"
)

// TrackedDigest returns a digest of the list of tracked files.
func (t *Tree) TrackedDigest() [32]byte { return t.tracked }

// Walked reports whether the walk found path as a directory, file or special file that git does not
// ignore, not through a link.
func (t *Tree) Walked(path string) bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	n := t.top.Find(path)
	if n.Only || n.Path == path {
		return !n.Only
	}
	e, ok := n.File(path)
	return ok && e.Kind != Link
}

// Digest returns a digest of all files below a directory. known is false if it would have to read
// files or follow links. It returns zero for a missing directory.
func (t *Tree) Digest(dir string) (sum [32]byte, known bool) {
	dir = clean(dir)
	t.mu.RLock()
	defer t.mu.RUnlock()
	n := t.top.Find(dir)
	if n.Path != dir {
		return sum, true
	}
	return t.digest(n)
}

func (t *Tree) digest(n *dirNode) (sum [32]byte, known bool) {
	if n.Wholly() {
		sum, known = t.index.saved.Digest(int(n.Was - 1))
	}
	if known {
		return sum, true
	}
	var c tableContent
	files := n.Files()
	for i := range files {
		e := &files[i]
		name := n.Name(e.Path)
		of := &sum
		if sum, known = t.index.Known(*e); !known {
			of = nil
		}
		if !c.File(name, e, of, t.walked) {
			return [32]byte{}, false
		}
	}
	for _, d := range n.Dirs {
		if sum, known = t.digest(d); !known {
			return [32]byte{}, false
		}
		c.Dir(n.Name(d.Path), &sum)
	}
	return c.Sum(), true
}

// StatDigest returns a digest of the paths and stats of those files below a directory for whose paths
// of returns true. known is false if one of them may change without another stat. of must not call
// the tree.
func (t *Tree) StatDigest(dir string, of func(path string) bool) (sum [32]byte, known bool) {
	dir = clean(dir)
	t.mu.RLock()
	defer t.mu.RUnlock()
	n := t.top.Find(dir)
	if n.Path != dir {
		return sum, true
	}
	var w tableWriter
	known = t.addStats(&w, n, of)
	w.files = append(w.files, w.text...)
	return blake3.Sum256(w.files), known
}

// addStats adds the files below n that of selects. It returns false at the first one that may change
// without another stat.
func (t *Tree) addStats(w *tableWriter, n *dirNode, of func(path string) bool) bool {
	for e := range n.FilesLike(of) {
		if e.Kind != disk.File {
			continue
		}
		if !t.Stable(*e) && !t.Settled(*e) {
			return false
		}
		w.Add(e, nil)
	}
	return !n.Flawed && !slices.ContainsFunc(n.Dirs, func(d *dirNode) bool { return !t.addStats(w, d, of) })
}

// Known is Sum, but never reads a file: ok is false if it would have to.
func (ix *Index) Known(e Entry) (sum [32]byte, ok bool) {
	if sum, ok := ix.recorded(&e); ok {
		return sum, true
	}
	k, ok := ix.fresh.Of(&e)
	return k.Sum, ok && k.Settled
}

// Stable reports whether any later change of the file or link e changes its stat. It does not
// test the file system, so it returns false for files that changed in the last seconds.
func (t *Tree) Stable(e Entry) bool {
	if _, known := t.index.recorded(&e); known {
		return true
	}
	return e.LongAgo(t.walked)
}

// Settled reports whether any change of the file or link e since the walk has given it another
// stat. It may test the file system.
func (t *Tree) Settled(e Entry) bool { return t.index.clock.Settled(&e, t.walked) }

// Stamp returns the stamp that a directory had when its names were read; ok is false for one that
// was not walked.
func (t *Tree) Stamp(dir string) (stamp Stamp, ok bool) {
	n := t.dirNode(dir)
	if n == nil {
		return Stamp{}, false
	}
	return n.Stamp, true
}

// SettledDir reports whether adding or removing an entry of a walked directory since then has given
// it another stamp. It may test the file system.
func (t *Tree) SettledDir(dir string) bool {
	n := t.dirNode(dir)
	return n != nil && (n.Unseen() || !n.Flawed) && (!n.Listed || t.index.clock.Lists(n.Stamp, n.Looked))
}

// dirNode returns the directory dir, nil when it was not walked.
func (t *Tree) dirNode(dir string) *dirNode {
	dir = clean(dir)
	t.mu.RLock()
	defer t.mu.RUnlock()
	if n := t.top.Find(dir); n.Path == dir {
		return n
	}
	return nil
}

// maxFolded is the largest number of names in a directory that Lacks compares.
const maxFolded = 256

// Look returns the entry at path as Lookup does. For a walked directory it returns an entry with only
// the kind, and for a path that Lacks reports one without a kind. known is false if the walk did not
// cover path.
func (t *Tree) Look(path string) (e Entry, known bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	dir := parentPath(path)
	n := t.top.Find(dir)
	switch {
	case n.Path != dir:
		return e, false
	case path == "":
		return Entry{Kind: Dir}, true
	}
	if e, ok := n.File(path); ok {
		return e, true
	}
	if n.Child(path) != nil {
		return Entry{Path: path, Kind: Dir}, true
	}
	return e, n.lacks(path)
}

// Lacks reports whether the walk found no entry at path, whatever the case of its letters. It returns
// false if the walk has left out names of the directory.
func (t *Tree) Lacks(path string) bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	dir := parentPath(path)
	n := t.top.Find(dir)
	return n.Path == dir && n.lacks(path)
}

// lacks is Lacks for a path directly in n.
func (n *dirNode) lacks(path string) bool {
	name := n.Name(path)
	if !n.Whole || name == ".git" || path == state.Name || !n.Unseen() && n.Flawed {
		return false
	}
	count := len(n.Dirs)
	for other := range n.Names {
		if count++; count > maxFolded || strings.EqualFold(n.Name(other), name) {
			return false
		}
	}
	return count <= maxFolded && !slices.ContainsFunc(n.Dirs, func(d *dirNode) bool { return strings.EqualFold(n.Name(d.Path), name) })
}
