package record

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/internal/key"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/tree"
)

// A stray is a file that lies where the outputs of a task go, and that its result does not
// name. A task that is executed behind that one may read it, and its key says nothing of it.
// So it becomes an input of what was executed beside it: nothing is removed, and the result
// is restored only where the same file lies there.

// Upstream is a task that an execution depends on, with what its result names, by path.
type Upstream struct {
	Task    *plan.Task
	Outputs []cache.Output
	// Found is what counts as an input of Task, if its key is part of that of the execution.
	Found []string
}

// names reports whether p is one of Outputs.
func (u *Upstream) names(p string) bool {
	_, found := slices.BinarySearchFunc(u.Outputs, p, func(o cache.Output, p string) int { return strings.Compare(o.Path, p) })
	return found
}

// beside returns the files and links that lie where the outputs of a task go and that its
// result does not name.
func (r *Recorder) beside(u *Upstream, l *listing) (list []tree.Entry) {
	for _, e := range l.entries {
		if !u.names(e.Path) && !key.IsOwn(e.Path) && !r.Tree.Tracked(e.Path) {
			list = append(list, e)
		}
	}
	return list
}

// lookUpstream notes the strays beside what the execution depends on, but for what its key
// speaks of: what others of those tasks have made, its inputs, and what it makes itself.
func (x *Execution) lookUpstream() error {
	x.shared = make([]*listing, len(x.Upstream))
	for i, u := range x.Upstream {
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

// inKey reports whether the key speaks of what lies at p, or the task makes it.
func (x *Execution) inKey(p string) bool {
	if x.set != nil && x.set.Match(p) {
		return true
	}
	if slices.Contains(x.Last.Found, p) {
		return false // only as long as it is found again
	}
	is := func(e tree.Entry, p string) int { return strings.Compare(e.Path, p) }
	if _, input := slices.BinarySearchFunc(x.Ev.Entries, p, is); input {
		return true
	}
	return slices.ContainsFunc(x.Upstream, func(u *Upstream) bool { return u.names(p) || slices.Contains(u.Found, p) })
}

// noteStray notes a file beside the outputs of u. One that is as the task itself has left it
// is no input, as a by-product is none. It can only be its own in its own dish: there tasks
// run one after another.
func (x *Execution) noteStray(u *Upstream, e tree.Entry) {
	if now, err := tree.Stat(x.Root, e.Path); err == nil {
		e = now // what is remembered may be of a look before the file was written again
	}
	if u.Task.Dish == x.Ev.Task.Dish {
		if x.near == nil {
			x.near = make(map[string]bool)
		}
		x.near[e.Path] = true
		for _, b := range x.Last.ByProducts {
			if b.Path != e.Path {
				continue
			}
			if sum, err := x.Tree.Index().Sum(e); err == nil && sum == b.Sum {
				return
			}
		}
	}
	if x.strays = append(x.strays, e); !slices.Contains(x.Last.Found, e.Path) {
		x.FreshStrays = append(x.FreshStrays, e.Path)
	}
}

// lookAtStrays finds out, after the command, which strays are not what they were. What the
// command writes in its own dish is its own from now on, as a by-product is.
func (x *Execution) lookAtStrays() {
	x.strays = slices.DeleteFunc(x.strays, func(then tree.Entry) bool {
		now, err := tree.Stat(x.Root, then.Path)
		if err == nil && !touched(then, now) {
			delete(x.near, then.Path)
			return false
		}
		x.strayChanged = cmp.Or(x.strayChanged, difference{path: then.Path})
		return x.near[then.Path]
	})
	x.lookForNewStrays()
	for _, p := range slices.Sorted(maps.Keys(x.near)) {
		now, err := tree.Stat(x.Root, p)
		if err != nil || now.Kind != tree.File {
			continue
		}
		if sum, err := x.Tree.Index().Sum(now); err == nil {
			x.Rewritten = append(x.Rewritten, key.ByProduct{Path: p, Sum: sum})
		}
	}
}

// lookForNewStrays finds out, after the command, whether something was put beside the outputs
// of other dishes. In its own dish it is the task that has made it. A shared listing is checked
// later, unless something else may write there by now.
func (x *Execution) lookForNewStrays() {
	for i, u := range x.Upstream {
		l := x.shared[i]
		switch {
		case u.Task.Dish == x.Ev.Task.Dish || x.strayChanged.path != "" || l != nil && !x.isClosed(l):
			continue
		case l != nil && !l.verdict():
			x.strayChanged = l.difference()
			continue
		}
		now, shared, err := x.at(u.Task)
		if err != nil {
			continue // the next execution finds it
		}
		if x.shared[i] = nil; shared {
			x.shared[i] = now
		}
		x.strayChanged = x.newStray(u, now)
	}
}

// newStray returns the first file beside the outputs of u that was not there at first.
func (x *Execution) newStray(u *Upstream, now *listing) difference {
	for _, e := range x.beside(u, now) {
		had := slices.ContainsFunc(x.strays, func(s tree.Entry) bool { return s.Path == e.Path })
		if !had && !x.inKey(e.Path) && !x.mayRewrite(e.Path) {
			return difference{path: e.Path}
		}
	}
	return difference{}
}

// sharedChanged returns what was written, since the command began, beside the outputs of other
// tasks. held holds what was found out of listings in the same flush.
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

// AllFound returns what lay there and was not made by the task: what it left as it was
// among its outputs, and the strays.
func (x *Execution) AllFound() []string {
	all := slices.Clone(x.Found)
	for _, e := range x.strays {
		all = append(all, e.Path)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
