package key

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/tree"
)

// historyOf returns the history of the tasks of d.
func (e *Evaluator) historyOf(d *dish.Dish) dishHistory {
	return dishHistory{History: e.history, Tasks: e.ownerships[d].Tasks, Index: e.tree.Index()}
}

// withoutByProducts removes from list the by-products of t, of the later tasks of its dish, and of
// those tasks of the dishes inside that do not run before t.
func (e *Evaluator) withoutByProducts(t *plan.Task, list []tree.Entry) []tree.Entry {
	left := make(map[string][32]byte)
	if e.history.HasByProducts(t.Dish) {
		e.historyOf(t.Dish).addFrom(t, left)
	}
	var first map[*plan.Task]bool
	for _, inner := range e.ownerships[t.Dish].Inner() {
		if !e.history.HasByProducts(inner.Dish) {
			continue
		}
		if first == nil {
			first = t.First()
		}
		e.historyOf(inner.Dish).addExcept(first, left)
	}
	return e.exceptByProducts(left, list)
}

// exceptByProducts removes the by-products in left from list, unless they have changed since. A file
// that git tracks is always an input: it is in every clone.
func (e *Evaluator) exceptByProducts(left map[string][32]byte, list []tree.Entry) []tree.Entry {
	if len(left) == 0 {
		return list
	}
	return slices.DeleteFunc(slices.Clone(list), func(entry tree.Entry) bool {
		want, made := left[entry.Path]
		if !made || entry.Kind != tree.File || e.tree.Tracked(entry.Path) {
			return false
		}
		sum, err := e.tree.Index().Sum(entry)
		return err == nil && sum == want
	})
}

// LeftByOthers returns the by-products of the tasks of the dish of t that do not run before t, by
// path, without those of t itself.
func (f Files) LeftByOthers(t *plan.Task) map[string][32]byte {
	e := f.e
	if !e.history.HasByProducts(t.Dish) {
		return nil
	}
	except, left := t.First(), make(map[string][32]byte)
	except[t] = true
	e.historyOf(t.Dish).addExcept(except, left)
	return left
}

// ByProducts returns the undeclared files that the task of ev has left in its dish. before are the
// sources of the dish before the execution. It warns of new by-products.
func (f Files) ByProducts(ev *Evaluation, before []tree.Entry) []ByProduct {
	e, t := f.e, ev.Task
	list, fresh := e.historyOf(t.Dish).ByProducts(t, ev.Entries, before, f.Sources(t))
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

// dishHistory is the history of the tasks of one dish.
type dishHistory struct {
	History *History
	Tasks   []*plan.Task // all of the dish, in the order in which they run
	Index   *tree.Index
}

// ByProducts returns the undeclared files that t has left in its dish: new ones, and earlier
// by-products that still exist. A file that was an input is no by-product: if the user has
// changed it since, the key shows that. before and now are the sources of the dish. fresh are
// the by-products that t has left for the first time.
func (d dishHistory) ByProducts(t *plan.Task, inputs, before, now []tree.Entry) (list []ByProduct, fresh []string) {
	own, owners := paths(d.History.Of(t).ByProducts), d.owners(t)
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

// owners returns the by-products of the other tasks of t's dish: by path, the task that made the
// file.
func (d dishHistory) owners(t *plan.Task) map[string]*plan.Task {
	if !d.History.HasByProducts(t.Dish) {
		return nil
	}
	owners := make(map[string]*plan.Task)
	for _, other := range d.Tasks {
		if other.Place() == t.Place() {
			continue
		}
		for _, b := range d.History.Of(other).ByProducts {
			owners[b.Path] = other
		}
	}
	return owners
}

// reassign records the new content of a by-product of owner.
func (d dishHistory) reassign(owner *plan.Task, b ByProduct) {
	last := *d.History.Of(owner)
	last.ByProducts = slices.Clone(last.ByProducts)
	for i := range last.ByProducts {
		if last.ByProducts[i].Path == b.Path {
			last.ByProducts[i] = b
		}
	}
	d.History.Keep(owner, &last)
}

// addFrom adds the by-products of t and of the later tasks of its dish.
func (d dishHistory) addFrom(t *plan.Task, left map[string][32]byte) {
	from := false
	for _, other := range d.Tasks {
		if from = from || other.Place() == t.Place(); from {
			d.add(other, left)
		}
	}
}

// addExcept adds the by-products of the tasks that are not in first.
func (d dishHistory) addExcept(first map[*plan.Task]bool, left map[string][32]byte) {
	for _, other := range d.Tasks {
		if !first[other] {
			d.add(other, left)
		}
	}
}

func (d dishHistory) add(t *plan.Task, left map[string][32]byte) {
	for _, b := range d.History.Of(t).ByProducts {
		left[b.Path] = b.Sum
	}
}
