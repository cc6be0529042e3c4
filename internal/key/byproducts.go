package key

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/discovery"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/tree"
)

// Sources returns the sources of the dish of t that lie in no dish inside it, by path.
func (e *Evaluator) Sources(t *plan.Task) []tree.Entry { return e.territories[t.Dish].Own(e.tree) }

// leftIn is what is remembered of the tasks of d.
func (e *Evaluator) leftIn(d *discovery.Dish) leftovers {
	return leftovers{Memory: e.memory, Tasks: e.territories[d].Tasks, Index: e.tree.Index()}
}

// withoutLeft takes away from list what t itself, and those that come behind it in its dish, have
// left behind, and what tasks of the dishes inside have that do not come before t.
func (e *Evaluator) withoutLeft(t *plan.Task, list []tree.Entry) []tree.Entry {
	left := make(map[string][32]byte)
	if e.memory.Littered(t.Dish) {
		e.leftIn(t.Dish).behind(t, left)
	}
	var first map[*plan.Task]bool
	for _, inner := range e.territories[t.Dish].Inner() {
		if !e.memory.Littered(inner.Dish) {
			continue
		}
		if first == nil {
			first = t.First()
		}
		e.leftIn(inner.Dish).beside(first, left)
	}
	return unlessLeft(e.tree.Index(), left, list)
}

// MadeByOthers reports which paths other tasks of the dish of t have made. The function that
// it returns is safe for concurrent use.
func (e *Evaluator) MadeByOthers(t *plan.Task) func(path string) bool {
	return e.leftIn(t.Dish).MadeByOthers(t)
}

// MadeBefore reports which paths those have made that t depends on. The function that it
// returns is safe for concurrent use.
func (e *Evaluator) MadeBefore(t *plan.Task) func(path string) bool {
	return e.leftIn(t.Dish).MadeBefore(t)
}

// ByProducts returns what the task of ev has left in its dish, whose sources were before,
// without declaring it. It warns of new ones.
func (e *Evaluator) ByProducts(ev *Result, before []tree.Entry) []ByProduct {
	t := ev.Task
	list, fresh := e.leftIn(t.Dish).Left(t, ev.Entries, before, e.Sources(t))
	if globs, err := e.globs(t); err == nil { // sources that are outputs too are declared
		list = slices.DeleteFunc(list, func(b ByProduct) bool { return globs.Makes(b.Path) })
		fresh = slices.DeleteFunc(fresh, globs.Makes)
	}
	if len(fresh) > 0 && t.Uncached == "" {
		e.warn("by_products", fmt.Sprintf("%s made files that it does not declare: %s", t.ID(), diagnostics.Few(fresh)),
			"declare them as outputs, or have git ignore them")
	}
	return list
}

// leftovers is what is remembered of the tasks of one dish.
type leftovers struct {
	Memory *History
	Tasks  []*plan.Task // all of the dish, in the order in which they run
	Index  *tree.Index
}

// MadeByOthers reports which paths other tasks of the dish of t have made, as far as is
// known when that is asked for the first time. The function that it returns is safe for concurrent use.
func (d leftovers) MadeByOthers(t *plan.Task) func(path string) bool {
	others := sync.OnceValue(func() map[string]bool {
		others := make(map[string]bool)
		for _, other := range d.Tasks {
			if other.Place() != t.Place() {
				for _, p := range d.Memory.Of(other).Outputs {
					others[p] = true
				}
			}
		}
		return others
	})
	return func(path string) bool { return others()[path] }
}

// MadeBefore reports which paths those have made that t depends on, as far as is known
// when that is asked for the first time: those of its dish, however far, and what they
// depend on directly of other dishes. The function that it returns is safe for concurrent use.
func (d leftovers) MadeBefore(t *plan.Task) func(path string) bool {
	before := sync.OnceValue(func() map[string]bool {
		before, seen := make(map[string]bool), make(map[*plan.Task]bool)
		var add func(t *plan.Task)
		add = func(of *plan.Task) {
			for _, dep := range of.Deps {
				if seen[dep.Task] {
					continue
				}
				seen[dep.Task] = true
				for _, p := range d.Memory.Of(dep.Task).Outputs {
					before[p] = true
				}
				if dep.Task.Dish.Path == t.Dish.Path {
					add(dep.Task)
				}
			}
		}
		add(t)
		return before
	})
	return func(path string) bool { return before()[path] }
}

// Left returns what t has left in its dish without declaring it: what is new, and what was
// its by-product before and is still there. A file that was an input is none: somebody
// has changed it since, and the key tells of it. Before and now are the sources of the
// dish. Fresh are those that t has left for the first time.
func (d leftovers) Left(t *plan.Task, inputs, before, now []tree.Entry) (list []ByProduct, fresh []string) {
	own, owners := paths(d.Memory.Of(t).ByProducts), d.owners(t)
	for _, entry := range now {
		was, found := find(before, entry.Path)
		owner := owners[entry.Path]
		switch {
		case entry.Kind != tree.File:
			continue
		case found && !own[entry.Path] && (owner == nil || was.Same(&entry)):
			continue
		}
		if _, input := find(inputs, entry.Path); input {
			continue
		}
		sum, err := d.Index.Sum(entry)
		if err != nil {
			continue
		}
		b := ByProduct{Path: entry.Path, Sum: sum}
		if owner != nil {
			d.reassign(owner, b)
			continue
		}
		list = append(list, b)
		if !own[entry.Path] {
			fresh = append(fresh, entry.Path)
		}
	}
	return list, fresh
}

// find looks for a path among sorted entries.
func find(entries []tree.Entry, p string) (tree.Entry, bool) {
	i, found := slices.BinarySearchFunc(entries, p, func(e tree.Entry, p string) int { return strings.Compare(e.Path, p) })
	if !found {
		return tree.Entry{}, false
	}
	return entries[i], true
}

func paths(list []ByProduct) map[string]bool {
	set := make(map[string]bool, len(list))
	for _, b := range list {
		set[b.Path] = true
	}
	return set
}

// owners returns, by path, the other task of the dish of t that owns it.
func (d leftovers) owners(t *plan.Task) map[string]*plan.Task {
	if !d.Memory.Littered(t.Dish) {
		return nil
	}
	owners := make(map[string]*plan.Task)
	for _, other := range d.Tasks {
		if other.Place() == t.Place() {
			continue
		}
		for _, b := range d.Memory.Of(other).ByProducts {
			owners[b.Path] = other
		}
	}
	return owners
}

// reassign notes the content that a by-product of owner has now.
func (d leftovers) reassign(owner *plan.Task, b ByProduct) {
	last := *d.Memory.Of(owner)
	last.ByProducts = slices.Clone(last.ByProducts)
	for i := range last.ByProducts {
		if last.ByProducts[i].Path == b.Path {
			last.ByProducts[i] = b
		}
	}
	d.Memory.Keep(owner, &last)
}

// behind adds the by-products of t itself and of those that come behind it in its dish.
func (d leftovers) behind(t *plan.Task, left map[string][32]byte) {
	behind := false
	for _, other := range d.Tasks {
		if behind = behind || other.Place() == t.Place(); behind {
			d.add(other, left)
		}
	}
}

// beside adds the by-products of the tasks that first does not have.
func (d leftovers) beside(first map[*plan.Task]bool, left map[string][32]byte) {
	for _, other := range d.Tasks {
		if !first[other] {
			d.add(other, left)
		}
	}
}

func (d leftovers) add(t *plan.Task, left map[string][32]byte) {
	for _, b := range d.Memory.Of(t).ByProducts {
		left[b.Path] = b.Sum
	}
}

// unlessLeft takes the by-products in left away from list, where they are what was left.
func unlessLeft(index *tree.Index, left map[string][32]byte, list []tree.Entry) []tree.Entry {
	if len(left) == 0 {
		return list
	}
	return slices.DeleteFunc(slices.Clone(list), func(entry tree.Entry) bool {
		want, made := left[entry.Path]
		if !made || entry.Kind != tree.File {
			return false
		}
		sum, err := index.Sum(entry)
		return err == nil && sum == want
	})
}
