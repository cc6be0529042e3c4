package key

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/tree"
)

// withoutByProducts removes from list the by-products of t, of the later tasks of its dish, and of
// those tasks of the dishes inside that do not run before t.
func (e *Evaluator) withoutByProducts(t *plan.Task, list []tree.Entry) []tree.Entry {
	left := make(map[string][32]byte)
	if e.history.HasByProducts(t.Dish) {
		tasks := e.ownerships[t.Dish].Tasks
		if i := slices.IndexFunc(tasks, func(o *plan.Task) bool { return o.Place() == t.Place() }); i >= 0 {
			e.addByProducts(left, tasks[i:], nil)
		}
	}
	var first map[*plan.Task]bool
	for _, inner := range e.ownerships[t.Dish].Inner() {
		if !e.history.HasByProducts(inner.Dish) {
			continue
		}
		if first == nil {
			first = t.First()
		}
		e.addByProducts(left, inner.Tasks, first)
	}
	return e.exceptByProducts(left, list)
}

// addByProducts adds the by-products of tasks to left, without those of the tasks in except.
func (e *Evaluator) addByProducts(left map[string][32]byte, tasks []*plan.Task, except map[*plan.Task]bool) {
	for _, t := range tasks {
		if !except[t] {
			for _, b := range e.history.Of(t).ByProducts {
				left[b.Path] = b.Sum
			}
		}
	}
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
	e.addByProducts(left, e.ownerships[t.Dish].Tasks, except)
	return left
}

// ByProducts returns the undeclared files that the task of ev has left in its dish: new ones, and earlier
// by-products that still exist. A file that was an input is no by-product: if the user has changed it since, the
// key shows that. before are the sources of the dish before the execution. It warns of new by-products.
func (f Files) ByProducts(ev *Evaluation, before []tree.Entry) (list []ByProduct) {
	e, t := f.e, ev.Task
	own, owners := make(map[string]bool), make(map[string]*plan.Task)
	if e.history.HasByProducts(t.Dish) {
		for _, other := range e.ownerships[t.Dish].Tasks {
			for _, b := range e.history.Of(other).ByProducts {
				if other.Place() == t.Place() {
					own[b.Path] = true
				} else {
					owners[b.Path] = other
				}
			}
		}
	}
	globs, err := e.globs(t)
	var fresh []string
	for _, entry := range f.Sources(t) {
		was, found := find(before, entry.Path)
		owner := owners[entry.Path]
		if entry.Kind != tree.File || found && !own[entry.Path] && (owner == nil || was.Same(&entry)) || has(ev.Entries, entry.Path) {
			continue
		}
		sum, failed := e.tree.Index().Sum(entry)
		switch b := (ByProduct{Path: entry.Path, Sum: sum}); {
		case failed != nil:
		case owner != nil:
			e.reassign(owner, b)
		case err == nil && globs.Makes(b.Path): // a source that is an output, too, is declared
		default:
			if list = append(list, b); !own[b.Path] {
				fresh = append(fresh, b.Path)
			}
		}
	}
	if len(fresh) > 0 && t.Uncached == "" {
		e.warn("by_products", fmt.Sprintf("%s made files that it does not declare: %s", t.ID(), diagnostics.Few(fresh)),
			"declare them as outputs, or have git ignore them")
	}
	return list
}

// reassign records the new content of a by-product of owner.
func (e *Evaluator) reassign(owner *plan.Task, b ByProduct) {
	e.history.Change(owner.Place(), func(last *LastRun) {
		last.ByProducts = slices.Clone(last.ByProducts)
		for i := range last.ByProducts {
			if last.ByProducts[i].Path == b.Path {
				last.ByProducts[i] = b
			}
		}
	})
}

// find looks for a path among sorted entries.
func find(entries []tree.Entry, p string) (tree.Entry, bool) {
	i, found := slices.BinarySearchFunc(entries, p, func(e tree.Entry, p string) int { return strings.Compare(e.Path, p) })
	if !found {
		return tree.Entry{}, false
	}
	return entries[i], true
}
