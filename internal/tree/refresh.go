package tree

import (
	"context"
	"slices"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/tree/disk"
	"github.com/bentobuild/bento/internal/tree/glob"
	"github.com/bentobuild/bento/internal/tree/node"
)

// Refresh looks again at the directories dirs and all below them, which a task has
// run in. Ignore files above them count as they were found before. A directory that
// is new, gone, or something else by now is fine. Lists that were handed out before
// stay as they are.
//
// What cannot be read is among the Problems; the error is about the root itself,
// or that of ctx.
func (t *Tree) Refresh(ctx context.Context, dirs []string) error {
	select {
	case t.refresh <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-t.refresh }()
	w := &walker{tree: t, root: t.disk, before: t.before, atOnce: true}
	if t.disk.IsThere() {
		w.readers = t.spare
		defer func() { t.spare = w.readers }()
	} else {
		p, err := disk.OpenRoot(t.root)
		if err != nil {
			return err
		}
		defer p.Close()
		w.root = p
	}
	dirs = outermost(dirs)
	var read []*node.Node
	for _, dir := range dirs {
		if n := t.renew(dir); n != nil {
			read = append(read, n)
		}
	}
	if err := w.walk(ctx, read...); err != nil {
		return err
	}
	instead := make([]Entry, len(read)) // what is in the place of a directory
	for i, n := range read {
		if n.Missing {
			instead[i], _ = Stat(t.root, n.Path)
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, n := range read {
		t.put(n, instead[i])
	}
	t.forget(dirs)
	t.refreshed++
	t.problems = append(t.problems, w.problems...)
	return nil
}

// outermost cleans dirs and leaves out those inside others.
func outermost(dirs []string) []string {
	list := make([]string, len(dirs))
	for i, d := range dirs {
		list[i] = clean(d)
	}
	slices.SortFunc(list, disk.CompareDirs)
	kept := list[:0]
	for _, d := range list {
		if len(kept) == 0 || !glob.Inside(d, kept[len(kept)-1]) {
			kept = append(kept, d)
		}
	}
	return kept
}

// renew gives an empty node for the directory dir, or for the topmost new one on
// the way there; nil when dir is ignored.
func (t *Tree) renew(dir string) *node.Node {
	if dir == "" {
		return t.newTop()
	}
	t.mu.RLock()
	n := t.top.Find(dir)
	above := t.top.Find(node.Parent(dir))
	t.mu.RUnlock()
	if n.Path == dir {
		return &node.Node{Path: dir, Above: above, Only: n.Only, Was: n.Was, Ruled: n.Ruled}
	}
	for at := range disk.Ends(dir) {
		if at > len(n.Path) {
			dir = dir[:at]
			break
		}
	}
	if n.Only || t.Ignored(dir, true) {
		return nil
	}
	return &node.Node{Path: dir, Above: n}
}

// put brings a directory that was read into its place. One that is missing goes,
// and instead, if it is a file, comes.
func (t *Tree) put(n *node.Node, instead Entry) {
	if n.Path == "" {
		t.top = n
		return
	}
	t.soil(node.Parent(n.Path))
	above := t.top.Find(node.Parent(n.Path))
	if above.Path != node.Parent(n.Path) {
		return // gone with one above it
	}
	at, was := slices.BinarySearchFunc(above.Dirs, n.Path, func(d *node.Node, p string) int { return disk.CompareDirs(d.Path, p) })
	if was && !n.Missing { // it has the names that it had
		above.Dirs[at] = n
		return
	}
	above.Files()
	above.Same, above.Flawed = false, true // it was not read again itself
	above.Dirs = slices.DeleteFunc(above.Dirs, func(d *node.Node) bool { return d.Path == n.Path })
	above.Entries = slices.DeleteFunc(above.Entries, func(e Entry) bool { return e.Path == n.Path })
	switch {
	case !n.Missing:
		above.Dirs = slices.Insert(above.Dirs, at, n)
	case instead.Kind != 0 && instead.Kind != Dir && !t.hides(above, n.Path):
		above.Entries = slices.Insert(above.Entries, disk.Search(above.Entries, n.Path), instead)
	}
}

// soil drops the lists that hold what is in dir.
func (t *Tree) soil(dir string) {
	n := t.top
	n.Flat = nil
	for at := range disk.Ends(dir) {
		if n = n.Child(dir[:at]); n == nil {
			return
		}
		n.Flat = nil
	}
}

// forget drops what is remembered of the directories dirs: problems, and what was
// found for globs at, above and below them.
func (t *Tree) forget(dirs []string) {
	for _, dir := range dirs {
		for key, n := range t.named {
			if glob.Inside(n.prefix, dir) || glob.Inside(dir, n.prefix) {
				delete(t.named, key)
			}
		}
		t.problems = slices.DeleteFunc(t.problems, func(d diagnostics.Diagnostic) bool {
			return d.File != "" && glob.Inside(d.File, dir)
		})
	}
}
