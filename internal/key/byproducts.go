package key

import (
	"fmt"
	"slices"

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

// MadeByOthers reports which paths other tasks of the dish of t have made. What it gives
// is safe for concurrent use.
func (e *Evaluator) MadeByOthers(t *plan.Task) func(path string) bool {
	return e.leftIn(t.Dish).MadeByOthers(t)
}

// MadeBefore reports which paths those have made that t depends on. What it gives is safe
// for concurrent use.
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
