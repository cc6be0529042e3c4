package record

import (
	"cmp"
	"slices"
	"strings"

	"github.com/bentobuild/bento/internal/key"
	"github.com/bentobuild/bento/internal/tree"
)

// snapshotBeside looks at the outputs of dependencies before the command, for files that are not in its key: they are
// no outputs of other dependencies, no inputs, and no outputs of the task.
func (x *Execution) snapshotBeside() error {
	x.before.shared = make([]*listing, len(x.Upstream))
	var list []File
	for i, u := range x.Upstream {
		if u.isExact() {
			continue
		}
		l, shared, err := x.at(u.Task)
		if err != nil {
			return err
		}
		if shared {
			x.before.shared[i] = l
		}
		for _, e := range x.filesBeside(u, l) {
			if now, err := x.Tree.Stat(e.Path); err == nil {
				e = now // the listing may be older than the last write
			}
			f := File{Entry: e, At: x.placeBeside(u)}
			f.Extra = f.At == atUpstream || !x.isByProduct(e)
			list = append(list, f)
		}
	}
	slices.SortFunc(list, func(a, b File) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), cmp.Compare(a.At, b.At))
	})
	for _, f := range list {
		if last := len(x.before.beside) - 1; last >= 0 && x.before.beside[last].Path == f.Path {
			x.before.beside[last].Extra = x.before.beside[last].Extra || f.Extra
		} else {
			x.before.beside = append(x.before.beside, f)
		}
	}
	return nil
}

// placeBeside returns the place of files beside the outputs of u.
func (x *Execution) placeBeside(u *Upstream) place {
	if u.Task.Dish == x.Ev.Task.Dish {
		return atSibling
	}
	return atUpstream
}

// filesBeside returns the files beside the outputs of u that are not in the key of the execution.
func (x *Execution) filesBeside(u *Upstream, l *listing) (list []tree.Entry) {
	for _, e := range l.entries {
		if !u.names(e.Path) && !key.IsOwn(e.Path) && !x.Tree.Tracked(e.Path) && !x.inKey(e.Path) {
			list = append(list, e)
		}
	}
	return list
}

// inKey reports whether the key includes the file at p, or the task makes it.
func (x *Execution) inKey(p string) bool {
	if x.set != nil && x.set.Match(p) {
		return true
	}
	if slices.Contains(x.Last.Found, p) {
		return false // it is in the key only while it is found again
	}
	is := func(e tree.Entry, p string) int { return strings.Compare(e.Path, p) }
	if _, input := slices.BinarySearchFunc(x.Ev.Entries, p, is); input {
		return true
	}
	return slices.ContainsFunc(x.Upstream, func(u *Upstream) bool { return u.names(p) || slices.Contains(u.Found, p) })
}

// isByProduct reports whether the task itself or a later task of its dish has left a file, which has not changed
// since. A task leaves such files only in its own dish, where tasks run one after another.
func (x *Execution) isByProduct(e tree.Entry) bool {
	return slices.ContainsFunc(x.Last.ByProducts, func(b key.ByProduct) bool { return b.Path == e.Path && x.has(e, b.Sum) }) || x.leftByOthers(e)
}

// has reports whether a file has that content.
func (x *Execution) has(e tree.Entry, content [32]byte) bool {
	sum, err := x.Tree.Index().Sum(e)
	return err == nil && sum == content
}

// leftByOthers reports whether another task of the dish has left a file, which has not changed since.
func (x *Execution) leftByOthers(e tree.Entry) bool {
	content, left := x.LeftByOthers[e.Path]
	return left && e.Kind == tree.File && x.has(e, content)
}

// compareBeside adds the files beside the outputs of dependencies.
func (x *Execution) compareBeside(a *Access) {
	for _, f := range x.before.beside {
		then := f.Entry
		now, err := x.Tree.Stat(then.Path)
		if err == nil && !touched(then, now) {
			a.Read = append(a.Read, f)
			continue
		}
		if f.Entry = now; err != nil {
			f.Entry = tree.Entry{Path: then.Path}
		}
		a.Written = append(a.Written, f)
	}
	for i, u := range x.Upstream {
		if !u.isExact() {
			x.compareNew(a, i, u)
		}
	}
}

// compareNew adds the new files beside the outputs of u. A shared listing is checked later, unless another task
// may write there by now.
func (x *Execution) compareNew(a *Access, i int, u *Upstream) {
	l, at := x.before.shared[i], x.placeBeside(u)
	if at == atUpstream && l != nil {
		if !x.isClosed(l) {
			return
		}
		if !l.verdict() {
			a.Written = append(a.Written, File{Entry: tree.Entry{Path: l.dirs[0].Path, Kind: tree.Dir}, At: at})
			return
		}
	}
	now, shared, err := x.at(u.Task)
	if err != nil {
		return // the next execution finds the error
	}
	if at == atUpstream {
		if x.before.shared[i] = nil; shared {
			x.before.shared[i] = now
		}
	}
	for _, e := range x.newBeside(u, now) {
		a.Written = append(a.Written, File{Entry: e, At: at, New: true})
	}
}

// newBeside returns the files beside the outputs of u that did not exist before the command.
func (x *Execution) newBeside(u *Upstream, now *listing) []tree.Entry {
	return slices.DeleteFunc(x.filesBeside(u, now), func(e tree.Entry) bool {
		_, had := slices.BinarySearchFunc(x.before.beside, e.Path, func(f File, p string) int { return strings.Compare(f.Path, p) })
		return had
	})
}
