package tree

// TrackedDigest is a digest of what git tracks: it changes whenever the list does.
func (t *Tree) TrackedDigest() [32]byte { return t.outer.Basis.Tracked }

// Walked tells whether the walk has seen path as a directory, file or special file
// that git does not ignore. No link leads there.
func (t *Tree) Walked(path string) bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	n := t.top.find(path)
	if n.only || n.path == path {
		return !n.only
	}
	e, ok := lookup(n.entries, path)
	return ok && e.Kind != Link
}

// Known is Sum, but never reads: ok is false where it would have to.
func (ix *Index) Known(e Entry) (sum [32]byte, ok bool) {
	if sum, ok := ix.recorded(&e); ok {
		return sum, true
	}
	k, ok := ix.recall(&e)
	return k.sum, ok && k.settled
}

// Stable tells whether a file or link that the walk has seen as e is sure to have
// another stat once somebody changes it. It does not try out the file system, and
// so is careful with what was changed in the last seconds.
func (t *Tree) Stable(e Entry) bool {
	if _, known := t.index.recorded(&e); known {
		return true
	}
	return e.LongAgo(t.walked)
}
