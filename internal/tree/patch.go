package tree

// patch updates the index where files changed; ok is false when a file or a directory was added or
// removed. Until one is, the files outside the tree stay.
func (ix *Index) patch() (p *tablePatch, ok bool) {
	p = ix.saved.Patch()
	if ix.saved.Dirs() == 0 || !ix.patchDir(p, ix.tree.top, 0, true) {
		return nil, false
	}
	for _, s := range ix.fresh.Latest(func(s *fileState) bool { return s.Settled }) {
		i := ix.saved.Find(s.Path)
		if i < 0 {
			return nil, false
		}
		p.SetFile(i, &s.Entry, &s.Sum)
	}
	return p, true
}

// patchDir updates directory i from n. settled reports whether the rules from above are settled.
func (ix *Index) patchDir(p *tablePatch, n *dirNode, i int, settled bool) bool {
	was := ix.saved.Dir(i)
	settled = settled && ix.settled(n)
	now := tableDir{Path: was.Path, Stamp: n.Stamp, Settled: settled, Whole: n.Whole, Before: was.Before}
	if now != was {
		p.SetDir(i, now)
	}
	if was.Path != n.Path || !n.Unseen() && !ix.patchFiles(p, n, i) {
		return false
	}
	next := i + 1
	for _, d := range n.Dirs {
		if next >= ix.saved.Below(i) || !ix.patchDir(p, d, next, settled) {
			return false
		}
		next = ix.saved.Below(next)
	}
	return next >= ix.saved.Below(i)
}

// patchFiles updates the files of directory i from those of n.
func (ix *Index) patchFiles(p *tablePatch, n *dirNode, i int) bool {
	from, to := ix.saved.FilesOf(i)
	if n.Same {
		return true
	}
	if to-from != len(n.Entries) {
		return false
	}
	for k := range n.Entries {
		e := &n.Entries[k]
		if path, _ := ix.saved.File(from + k); path != e.Path {
			return false
		}
		if !ix.saved.Same(from+k, e) {
			p.SetFile(from+k, e, nil)
		}
	}
	return true
}
