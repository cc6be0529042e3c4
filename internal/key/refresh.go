package key

import (
	"cmp"
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

// DishSources returns the files that a link to d carries now.
func (e *Evaluator) DishSources(d *dish.Dish) DishSources {
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

// Written is where files of the workspace may have been written.
type Written struct {
	Executed   *plan.Task // anywhere in its dish, and its outputs outside
	Restored   *plan.Task // its outputs
	Installed  *dish.Dish // anywhere in it, and the lockfiles of its install scope
	Paths      []string   // directories and files, by something else
	Everywhere bool       // by another bento, before anything was executed or restored
}

// Observe reads the tree again where files may have been written. Outdated compares evaluations with what
// it has found.
func (e *Evaluator) Observe(ctx context.Context, w Written) {
	t := cmp.Or(w.Executed, w.Restored)
	switch {
	case w.Everywhere:
		e.reload(ctx)
	case w.Installed != nil:
		e.installed(ctx, w.Installed)
	case t == nil:
		e.refreshAt(ctx, w.Paths)
	case t == w.Restored && !MakesOutside(t): // evaluations that may read the outputs refresh the tree
		e.clock.wrote = e.clock.tick()
		e.clock.restored.note(e.clock.wrote, e.reach(t).outputs)
		e.clock.unseen = append(e.clock.unseen, t.Dish.Path)
	default:
		e.refreshAt(ctx, slices.Concat([]string{t.Dish.Path}, outside(t), rewrites(t)))
		e.clock.ran = e.clock.now
		e.looked(t)
		if ev := e.last(t); ev != nil && w.Executed == t {
			ev.executed = true
		}
	}
}

// manyPaths is the smallest number of paths for which refreshAt refreshes the whole workspace, which is
// cheaper then. They must also be as many as nine in ten of all dishes.
const manyPaths = 64

// refreshAt refreshes the tree at paths.
func (e *Evaluator) refreshAt(ctx context.Context, paths []string) {
	e.clock.write(paths...)
	dishes := make(map[*dish.Dish]bool, len(paths))
	for _, p := range paths {
		dishes[e.plan.Workspace.Owner(p)] = true
	}
	delete(dishes, nil)
	if len(paths) >= max(manyPaths, len(e.plan.Workspace.Dishes)*9/10) {
		paths = []string{"."}
	}
	e.refresh(ctx, paths)
	for d := range dishes {
		e.forgetSources(d)
	}
}

// reload walks the whole workspace and reads its state again.
func (e *Evaluator) reload(ctx context.Context) {
	e.unread = nil // all keys are made again
	e.refresh(ctx, []string{"."})
	e.history = OpenHistory(e.o.State)
	for _, own := range e.ownerships {
		own.Forget()
	}
	e.noteSources(".")
}

// installed refreshes the lockfiles that an install of the scope of d may have written.
func (e *Evaluator) installed(ctx context.Context, d *dish.Dish) {
	e.refreshAt(ctx, []string{d.Path})
	e.clock.ran = e.clock.now
	if err := e.lockfiles.Installed(ctx, d); err != nil && ctx.Err() == nil {
		e.warn("unreadable_directory", err.Error(), "")
	}
	e.noteSources(".") // those of every dish have the parts of lockfiles that it uses
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
	if err := e.tree.Apply(ctx, dirs); err != nil && ctx.Err() == nil {
		e.warn("unreadable_directory", err.Error(), "")
	}
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
