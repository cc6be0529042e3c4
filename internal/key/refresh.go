package key

import (
	"context"
	"slices"
	"strings"

	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/tree"
)

// DishSources are the files that a link to a dish carried when a key was made: its sources, and those
// of dishes inside it.
type DishSources struct {
	Dish    *dish.Dish
	Files   []tree.Entry    // by path
	Targets []tree.Entry    // of the links among Files
	Dirs    []tree.DirStamp // the directories of Files
}

func (e *Evaluator) dishSources(d *dish.Dish) DishSources {
	s := DishSources{Dish: d, Files: e.ownerships[d].Load(e.tree)}
	s.Targets, _ = LinkTargets(e.tree, s.Files)
	s.Dirs = e.tree.DirsOf(s.Files)
	return s
}

// Seen holds the sets that EachSources has passed to its function.
type Seen map[*sourceSet]bool

// EachSources calls f with the sources of every dish whose sources are in the key of ev: those
// that its task is linked to, directly or not. It skips sets in seen, and the sets behind them.
func (ev *Evaluation) EachSources(seen Seen, f func(DishSources)) {
	ev.eachSet(seen, func(s *sourceSet) {
		for _, l := range s.lists {
			f(l)
		}
	})
}

func (ev *Evaluation) eachSet(seen Seen, f func(*sourceSet)) {
	var walk func(s *sourceSet)
	walk = func(s *sourceSet) {
		if seen[s] {
			return
		}
		seen[s] = true
		f(s)
		for _, n := range s.next {
			walk(n)
		}
	}
	for _, s := range ev.sources {
		walk(s)
	}
}

// Refresh refreshes the tree below the dish of t, and at the outputs of t outside of the dish, after
// an execution or a restore. It reports whether the sources of a dish have changed.
func (e *Evaluator) Refresh(ctx context.Context, t *plan.Task) (changed bool) {
	dirs, dishes := []string{t.Dish.Path}, []*dish.Dish{t.Dish}
	for _, at := range append(outside(t), rewrites(t)...) {
		dirs = append(dirs, at)
		if d := e.plan.Workspace.Owner(at); d != nil && !slices.Contains(dishes, d) {
			dishes = append(dishes, d)
		}
	}
	e.executed(dirs)
	e.refresh(ctx, dirs)
	e.looked(t)
	for _, d := range dishes {
		changed = e.forgetSources(d) || changed
	}
	return changed
}

// outside returns the literal prefixes of those outputs of t that are anchored at the workspace.
func outside(t *plan.Task) (list []string) {
	for _, o := range t.Outputs {
		if strings.HasPrefix(o.Glob, "//") {
			list = append(list, prefix(t.Dish.Path, o.Glob))
		}
	}
	return list
}

// rewrites returns the literal prefixes of what t declares to rewrite outside of its dish.
func rewrites(t *plan.Task) (list []string) {
	for _, glob := range t.Rewrites {
		if at := prefix(t.Dish.Path, glob); !Inside(at, t.Dish.Path) {
			list = append(list, at)
		}
	}
	return list
}

// MakesOutside reports whether outputs of t may be outside of its dish, where they may be inputs of
// other tasks.
func MakesOutside(t *plan.Task) bool { return len(outside(t)) > 0 }

func (e *Evaluator) refresh(ctx context.Context, dirs []string) {
	e.ReadSources()
	if err := e.tree.Refresh(ctx, dirs); err != nil && ctx.Err() == nil {
		e.warn("unreadable_directory", err.Error(), "")
	}
}

// manyDishes is the smallest number of dishes for which RefreshDishes refreshes the whole workspace,
// which is cheaper then. They must also be nine in ten of all dishes.
const manyDishes = 64

// RefreshDishes refreshes the tree below dishes, and directories outside of them, and returns the
// sources of the dishes as they are now. It reports whether they have changed.
func (e *Evaluator) RefreshDishes(ctx context.Context, dishes []*dish.Dish, outside []string) (now []DishSources, changed bool) {
	dirs := []string{"."}
	if len(dishes)+len(outside) < max(manyDishes, len(e.plan.Workspace.Dishes)*9/10) {
		dirs = slices.Clone(outside)
		for _, d := range dishes {
			dirs = append(dirs, d.Path)
		}
	}
	e.refresh(ctx, dirs)
	for _, d := range dishes {
		changed = e.forgetSources(d) || changed
		now = append(now, e.dishSources(d))
	}
	return now, changed
}

// Outside returns the paths outside of the dish that the inputs of a task may name: the literal
// prefixes of globs that are anchored at the workspace, and the targets of links.
func (e *Evaluator) Outside(ev *Evaluation) []string {
	t := ev.Task
	_, dirs := LinkTargets(e.tree, ev.Entries)
	for _, glob := range slices.Concat(t.OnDisk, t.Inputs) {
		if strings.HasPrefix(glob, "//") {
			dirs = append(dirs, prefix(t.Dish.Path, glob))
		}
	}
	return dirs
}

// InputsNow returns the entries that the key of ev would be made of now. The caller has refreshed
// the dish and the paths that Outside returns.
func (e *Evaluator) InputsNow(ev *Evaluation) ([]tree.Entry, error) {
	list, err := e.inputs(ev.Task)
	if err != nil || len(ev.Lock) == 0 {
		return list, err
	}
	return slices.DeleteFunc(slices.Clone(list), func(entry tree.Entry) bool {
		return slices.ContainsFunc(ev.Lock, func(l tree.Entry) bool { return l.Path == entry.Path })
	}), nil
}
