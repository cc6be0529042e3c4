package tree

import (
	"context"
	"path"
	"slices"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/tree/disk"
	"github.com/bentobuild/bento/internal/tree/glob"
	"github.com/bentobuild/bento/internal/tree/ignore"
)

// Apply reads the paths again where the workspace may have changed: those of files, and of directories with
// everything below them, such as the dish of a task that was executed. Each may be new, missing, or another kind
// of file. An ignore file stands for its directory. Nothing else is read again. Lists returned earlier do not
// change, and those of directories below which nothing has changed stay the same lists.
//
// Unreadable files are among the Problems; the error is about the root itself, or that of ctx.
func (t *Tree) Apply(ctx context.Context, changes []string) error {
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
	changes = outermost(changes)
	changed := slices.Clone(changes)
	var read, dirs []*dirNode
	for _, p := range changes {
		n := t.renew(p)
		if n != nil {
			read = append(read, n)
		}
		if n != nil && !n.Missing {
			dirs = append(dirs, n)
		}
	}
	if err := w.walk(ctx, dirs...); err != nil {
		return err
	}
	instead := make([]Entry, len(read)) // entries at the places of directories
	for i, n := range read {
		if n.Missing {
			instead[i], _ = Stat(t.root, n.Path)
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, n := range read {
		if t.top.Find(n.Path).unchanged(n) {
			changed = slices.DeleteFunc(changed, func(dir string) bool { return dir == n.Path })
			continue
		}
		t.put(n, instead[i])
	}
	t.forgetProblems(changed)
	t.forgetGlobs(changes) // a directory may be unchanged although its ignored files have changed
	t.refreshed++
	t.problems = append(t.problems, w.problems...)
	return nil
}

// unchanged reports whether n and now, which was read later, are the same directory and have the same
// entries below, because both are unchanged since the index. It returns false if that is uncertain.
func (n *dirNode) unchanged(now *dirNode) bool {
	if n.Path != now.Path || n.Was != now.Was || n.Only != now.Only || len(n.Dirs) != len(now.Dirs) || !n.asIndexed() || !now.asIndexed() {
		return false
	}
	for i, d := range n.Dirs {
		if !d.unchanged(now.Dirs[i]) {
			return false
		}
	}
	return true
}

// asIndexed reports whether the stats of n and of the files directly in it were read and are those of
// the index.
func (n *dirNode) asIndexed() bool { return n.late.of != nil && n.late.seen.Load() && n.Same }

// outermost cleans paths and removes those inside others. It replaces ignore files by their directories.
func outermost(paths []string) []string {
	list := make([]string, len(paths))
	for i, p := range paths {
		if list[i] = clean(p); path.Base(list[i]) == ignore.File {
			list[i] = parentPath(list[i])
		}
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

// renew returns an empty node for the path dir, as if it were a directory, or for its topmost new parent; nil
// when dir is ignored. The node is Missing if a directory there would be ignored, but a file would not.
func (t *Tree) renew(dir string) *dirNode {
	if dir == "" {
		return t.newTop()
	}
	t.mu.RLock()
	n := t.top.Find(dir)
	above := t.top.Find(parentPath(dir))
	t.mu.RUnlock()
	if n.Path == dir {
		return &dirNode{Path: dir, Above: above, Only: n.Only && !n.Linked, Was: n.Was, Ruled: n.Ruled}
	}
	for at := range disk.Ends(dir) {
		if at > len(n.Path) {
			dir = dir[:at]
			break
		}
	}
	if n.Only || t.Ignored(dir, true) {
		if _, known := t.Lookup(dir); !known && t.Ignored(dir, false) {
			return nil
		}
		return &dirNode{Path: dir, Above: n, Missing: true}
	}
	only := t.ruledOut(dir, true) && !t.outer.Tracked().HasLink(dir) && !n.TrackedLink(dir)
	return &dirNode{Path: dir, Above: n, Only: only}
}

// put replaces a directory by its new node. It removes a missing one, and adds instead, if that is
// a file.
func (t *Tree) put(n *dirNode, instead Entry) {
	if n.Path == "" {
		t.top = n
		return
	}
	t.dropViews(parentPath(n.Path))
	above := t.top.Find(parentPath(n.Path))
	if above.Path != parentPath(n.Path) {
		return // removed with a parent
	}
	at, was := slices.BinarySearchFunc(above.Dirs, n.Path, func(d *dirNode, p string) int { return disk.CompareDirs(d.Path, p) })
	if was && !n.Missing { // it has the same names
		above.Dirs[at] = n
		return
	}
	isFile := instead.Kind != 0 && instead.Kind != Dir && !t.hides(above, n.Path)
	files := above.Files()
	above.Same = false
	if i := disk.Search(files, n.Path); isFile && i < len(files) && files[i].Path == n.Path {
		above.Entries[i] = instead
		return
	}
	above.Flawed = true // it has other names, and was not read again
	above.Dirs = slices.DeleteFunc(above.Dirs, func(d *dirNode) bool { return d.Path == n.Path })
	above.Entries = slices.DeleteFunc(above.Entries, func(e Entry) bool { return e.Path == n.Path })
	switch {
	case !n.Missing:
		above.Dirs = slices.Insert(above.Dirs, at, n)
	case isFile:
		above.Entries = slices.Insert(above.Entries, disk.Search(above.Entries, n.Path), instead)
	}
}

// dropViews drops the cached lists that contain entries of dir.
func (t *Tree) dropViews(dir string) {
	n := t.top
	n.Flat = nil
	for at := range disk.Ends(dir) {
		if n = n.Child(dir[:at]); n == nil {
			return
		}
		n.Flat = nil
	}
}

// forgetProblems drops the problems in the directories dirs.
func (t *Tree) forgetProblems(dirs []string) {
	for _, dir := range dirs {
		t.problems = slices.DeleteFunc(t.problems, func(d diagnostics.Diagnostic) bool {
			return d.File != "" && glob.Inside(d.File, dir)
		})
	}
}

// forgetGlobs drops the results of globs at, above and below the directories dirs.
func (t *Tree) forgetGlobs(dirs []string) {
	for _, dir := range dirs {
		for key, n := range t.named {
			if glob.Inside(n.prefix, dir) || glob.Inside(dir, n.prefix) {
				delete(t.named, key)
			}
		}
	}
}
