package key

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/plan"
)

// Written is where files of the workspace may have been written.
type Written struct {
	Executed   *plan.Task   // anywhere in its dish, and its outputs outside
	Restored   *plan.Task   // its outputs
	Installed  *dish.Dish   // anywhere in it, and the lockfiles of its install scope
	Dishes     []*dish.Dish // anywhere in them, by something else
	Paths      []string     // files and directories that are no sources, by something else
	Everywhere bool         // by another bento, before anything was executed or restored
}

// NoteWritten reads the tree again where files may have been written. Outdated compares evaluations with what
// it has found.
func (e *Evaluator) NoteWritten(ctx context.Context, w Written) {
	t := cmp.Or(w.Executed, w.Restored)
	switch {
	case w.Everywhere:
		e.reload(ctx)
	case w.Installed != nil:
		e.installed(ctx, w.Installed)
	case t == nil:
		e.refreshAt(ctx, w.Dishes, w.Paths)
	case t == w.Restored && !MakesOutside(t): // evaluations that may read the outputs refresh the tree
		e.clock.write(e.reach(t).outputs...)
		e.clock.unseen = append(e.clock.unseen, t.Dish.Path)
	default:
		elsewhere, dishes := append(outside(t), rewrites(t)...), []*dish.Dish{t.Dish}
		for _, p := range elsewhere {
			if d := e.plan.Workspace.Owner(p); d != nil && !slices.Contains(dishes, d) {
				dishes = append(dishes, d)
			}
		}
		e.refreshAt(ctx, dishes, elsewhere)
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

// refreshAt refreshes the tree below dishes, whose sources may have changed, and at paths.
func (e *Evaluator) refreshAt(ctx context.Context, dishes []*dish.Dish, paths []string) {
	paths = slices.Clip(paths)
	for _, d := range dishes {
		paths = append(paths, d.Path)
	}
	e.clock.write(paths...)
	if len(paths) >= max(manyPaths, len(e.plan.Workspace.Dishes)*9/10) {
		paths = []string{"."}
	}
	e.refresh(ctx, paths)
	for _, d := range dishes {
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
	e.refreshAt(ctx, []*dish.Dish{d}, nil)
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
	e.readUnread()
	if err := e.tree.Apply(ctx, dirs); err != nil && ctx.Err() == nil {
		e.warn("unreadable_directory", err.Error(), "")
	}
}
