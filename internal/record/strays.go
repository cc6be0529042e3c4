package record

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/internal/key"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/tree"
)

// A stray is a file at the path of an output of a task that the result of the task does not name.
// A dependent may read it, but the key of the dependent does not include it. So the stray becomes
// an input of the dependent: it stays, and the result of the dependent is restored only beside the
// same file.

// Upstream is a dependency of an execution, with the outputs of its result by path.
type Upstream struct {
	Task    *plan.Task
	Outputs []cache.Output
	// Found are further inputs of Task, if its key is an ingredient of the execution's key.
	Found []string

	looked sync.Once // guards exact
	exact  bool
}

// isExact reports whether the task names its outputs without wildcards, and has made a file or link
// at each. Then it has no strays, unless a directory replaces an output, which is a changed output.
func (u *Upstream) isExact() bool {
	u.looked.Do(func() {
		set, err := OutputSet(u.Task)
		if err != nil {
			return
		}
		for i := range u.Task.Outputs {
			p, plain := set.Plain(i)
			if at, named := u.find(p); !plain || !named || u.Outputs[at].Kind == cache.Dir {
				return
			}
		}
		u.exact = true
	})
	return u.exact
}

// names reports whether p is one of Outputs.
func (u *Upstream) names(p string) bool {
	_, found := u.find(p)
	return found
}

func (u *Upstream) find(p string) (at int, found bool) {
	return slices.BinarySearchFunc(u.Outputs, p, func(o cache.Output, p string) int { return strings.Compare(o.Path, p) })
}

// beside returns the strays beside the outputs of a task.
func (r *Recorder) beside(u *Upstream, l *listing) (list []tree.Entry) {
	for _, e := range l.entries {
		if !u.names(e.Path) && !key.IsOwn(e.Path) && !r.Tree.Tracked(e.Path) {
			list = append(list, e)
		}
	}
	return list
}

// noteStrays notes the strays beside the outputs of dependencies that are not in the key of the
// execution: they are no outputs of other dependencies, no inputs, and no outputs of the task.
func (x *Execution) noteStrays() error {
	x.shared = make([]*listing, len(x.Upstream))
	for i, u := range x.Upstream {
		if u.isExact() {
			continue
		}
		l, shared, err := x.at(u.Task)
		if err != nil {
			return err
		}
		if shared {
			x.shared[i] = l
		}
		for _, e := range x.beside(u, l) {
			if !x.inKey(e.Path) {
				x.noteStray(u, e)
			}
		}
	}
	byPath := func(a, b tree.Entry) int { return strings.Compare(a.Path, b.Path) }
	slices.SortFunc(x.strays, byPath)
	x.strays = slices.CompactFunc(x.strays, func(a, b tree.Entry) bool { return a.Path == b.Path })
	return nil
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

// noteStray notes a file beside the outputs of u. An unchanged file that the task itself or a later
// task has left is no input, like a by-product. A task leaves such files only in its own dish, where
// tasks run one after another.
func (x *Execution) noteStray(u *Upstream, e tree.Entry) {
	if now, err := x.Tree.Stat(e.Path); err == nil {
		e = now // the listing may be older than the last write
	}
	if u.Task.Dish == x.Ev.Task.Dish {
		if x.near == nil {
			x.near = make(map[string]bool)
		}
		x.near[e.Path] = true
		if slices.ContainsFunc(x.Last.ByProducts, func(b key.ByProduct) bool { return b.Path == e.Path && x.has(e, b.Sum) }) || x.leftByOthers(e) {
			return
		}
	}
	if x.strays = append(x.strays, e); !slices.Contains(x.Last.Found, e.Path) {
		x.FreshStrays = append(x.FreshStrays, e.Path)
	}
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

// checkStrays finds, after the command, the strays that have changed. Strays in the dish of the task
// that the command has written become its own, like by-products.
func (x *Execution) checkStrays() {
	x.strays = slices.DeleteFunc(x.strays, func(then tree.Entry) bool {
		now, err := x.Tree.Stat(then.Path)
		if err == nil && !touched(then, now) {
			delete(x.near, then.Path)
			return false
		}
		x.strayChanged = cmp.Or(x.strayChanged, difference{path: then.Path})
		return x.near[then.Path]
	})
	x.findNewStrays()
	for _, p := range slices.Sorted(maps.Keys(x.near)) {
		now, err := x.Tree.Stat(p)
		if err != nil || now.Kind != tree.File {
			continue
		}
		if sum, err := x.Tree.Index().Sum(now); err == nil {
			x.Rewritten = append(x.Rewritten, key.ByProduct{Path: p, Sum: sum})
		}
	}
}

// findNewStrays finds, after the command, new files beside the outputs of other dishes. New files in
// the dish of the task were made by the task. A shared listing is checked later, unless another task
// may write there by now.
func (x *Execution) findNewStrays() {
	for i, u := range x.Upstream {
		l := x.shared[i]
		switch {
		case u.isExact():
			continue
		case u.Task.Dish == x.Ev.Task.Dish:
			x.noteBeside(u)
			continue
		case x.strayChanged.path != "" || l != nil && !x.isClosed(l):
			continue
		case l != nil && !l.verdict():
			x.strayChanged = l.difference()
			continue
		}
		now, shared, err := x.at(u.Task)
		if err != nil {
			continue // the next execution finds the error
		}
		if x.shared[i] = nil; shared {
			x.shared[i] = now
		}
		x.strayChanged = x.newStray(u, now)
	}
}

// noteBeside notes the files that the command has made beside the outputs of another task of its
// dish.
func (x *Execution) noteBeside(u *Upstream) {
	l, _, err := x.at(u.Task)
	if err != nil {
		return // the next execution finds the error
	}
	for _, e := range x.beside(u, l) {
		if x.near[e.Path] || x.inKey(e.Path) || e.Kind != tree.File {
			continue
		}
		if x.near == nil {
			x.near = make(map[string]bool)
		}
		x.near[e.Path], x.Beside = true, append(x.Beside, e.Path)
	}
}

// newStray returns the first file beside the outputs of u that did not exist before the command.
func (x *Execution) newStray(u *Upstream, now *listing) difference {
	for _, e := range x.beside(u, now) {
		had := slices.ContainsFunc(x.strays, func(s tree.Entry) bool { return s.Path == e.Path })
		if !had && !x.inKey(e.Path) && !x.mayRewrite(e.Path) {
			return difference{path: e.Path}
		}
	}
	return difference{}
}

// sharedChanged returns the first file that was written beside the outputs of other tasks since the
// command began. held caches the verdicts on listings within one Check.
func (x *Execution) sharedChanged(held map[*listing]bool) (found difference) {
	for i, l := range x.shared {
		if l == nil {
			continue
		}
		ok, known := held[l]
		if !known {
			ok = x.held(x.Upstream[i].Task, l)
			held[l] = ok
		}
		if u := x.Upstream[i]; !ok && found.path == "" {
			if now, _, err := x.at(u.Task); err == nil {
				found = x.newStray(u, now)
			}
			found = cmp.Or(found, l.difference())
		}
	}
	return found
}

// AllFound returns the files among the outputs that the task has not made: Found and the strays.
func (x *Execution) AllFound() []string {
	all := slices.Clone(x.Found)
	for _, e := range x.strays {
		all = append(all, e.Path)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
