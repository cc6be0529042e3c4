package key

import (
	"context"
	"slices"
	"strings"

	"github.com/bentobuild/bento/discovery"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/tree"
)

// Sources are the sources of a dish that lie in no dish inside it, as they were when a key was made.
type Sources struct {
	Dish   *discovery.Dish
	Files  []tree.Entry    // by path
	Behind []tree.Entry    // what links among Files lead to
	Dirs   []tree.DirStamp // that Files lie in
}

func (e *Evaluator) defaults(d *discovery.Dish) Sources {
	s := Sources{Dish: d, Files: e.territories[d].Own(e.tree)}
	s.Behind, _ = Behind(e.tree, s.Files)
	s.Dirs = e.tree.DirsOf(s.Files)
	return s
}

// Seen holds what EachSources has called its function with.
type Seen map[*sourceSet]bool

// EachSources calls f with the sources of every dish that the key of ev speaks of:
// of those that its task is linked to, directly or not. What is in seen already is
// left out, for what it leads to, too.
func (ev *Result) EachSources(seen Seen, f func(Sources)) {
	ev.eachSet(seen, func(s *sourceSet) {
		for _, l := range s.lists {
			f(l)
		}
	})
}

func (ev *Result) eachSet(seen Seen, f func(*sourceSet)) {
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

// Refresh looks again at the dish of t, and where its outputs go outside of it, after something
// ran there or was restored. It reports whether the sources of a dish differ from before.
func (e *Evaluator) Refresh(ctx context.Context, t *plan.Task) (changed bool) {
	dirs, dishes := []string{t.Dish.Path}, []*discovery.Dish{t.Dish}
	for _, at := range outside(t) {
		dirs = append(dirs, at)
		if d := e.plan.Workspace.Owner(at); d != nil && !slices.Contains(dishes, d) {
			dishes = append(dishes, d)
		}
	}
	e.look(ctx, dirs)
	for _, d := range dishes {
		changed = e.lookedAgain(d) || changed
	}
	return changed
}

// outside returns where the outputs of t go that are anchored at the workspace.
func outside(t *plan.Task) (list []string) {
	for _, o := range t.Outputs {
		if strings.HasPrefix(o.Glob, "//") {
			list = append(list, prefix(t.Dish.Path, o.Glob))
		}
	}
	return list
}

// MakesOutside reports whether outputs of t lie outside of its dish, where they may be inputs of
// others.
func MakesOutside(t *plan.Task) bool { return len(outside(t)) > 0 }

func (e *Evaluator) look(ctx context.Context, dirs []string) {
	if err := e.tree.Refresh(ctx, dirs); err != nil && ctx.Err() == nil {
		e.warn("unreadable_directory", err.Error(), "")
	}
}

// manyDishes is from how many dishes on, and more than half of all, it is cheaper to look
// at the whole workspace than at each of them.
const manyDishes = 64

// LookAgain looks at dishes again, and at directories outside of them, and gives the
// sources of the dishes as they are now. It reports whether those of any are others
// than before.
func (e *Evaluator) LookAgain(ctx context.Context, dishes []*discovery.Dish, outside []string) (now []Sources, changed bool) {
	dirs := []string{"."}
	if len(dishes)+len(outside) < max(manyDishes, len(e.plan.Workspace.Dishes)/2) {
		dirs = slices.Clone(outside)
		for _, d := range dishes {
			dirs = append(dirs, d.Path)
		}
	}
	e.look(ctx, dirs)
	for _, d := range dishes {
		changed = e.lookedAgain(d) || changed
		now = append(now, e.defaults(d))
	}
	return now, changed
}

// Outside returns what the inputs of a task name that are anchored at the workspace: the
// directories, or files, that these globs look into, and where links among them lead.
func (e *Evaluator) Outside(ev *Result) []string {
	t := ev.Task
	_, dirs := Behind(e.tree, ev.Entries)
	for _, glob := range t.Inputs {
		if strings.HasPrefix(glob, "//") {
			dirs = append(dirs, prefix(t.Dish.Path, glob))
		}
	}
	return dirs
}

// InputsNow returns the entries that the key of ev would be made of now, as far as the
// dish and what Outside gives were looked at.
func (e *Evaluator) InputsNow(ev *Result) ([]tree.Entry, error) {
	list, err := e.inputs(ev.Task)
	if err != nil || len(ev.Lock) == 0 {
		return list, err
	}
	return slices.DeleteFunc(slices.Clone(list), func(entry tree.Entry) bool { return entry.Path == ev.Lock[0].Path }), nil
}
