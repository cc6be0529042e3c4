package evaluate

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/run/lastrun"
	"github.com/bentobuild/bento/internal/run/territory"
	"github.com/bentobuild/bento/internal/tree"
)

// Sources gives the default inputs of the dish of t, by path.
func (e *Evaluator) Sources(t *plan.Task) []tree.Entry { return e.territories[t.Dish].Defaults(e.tree) }

// MadeByOthers tells which paths other tasks of the dish of t have made, as far as is
// known when that is asked for the first time. What it gives is safe for concurrent use.
func (e *Evaluator) MadeByOthers(t *plan.Task) func(path string) bool {
	tasks, memory := e.territories[t.Dish].Tasks, e.memory
	others := sync.OnceValue(func() map[string]bool {
		others := make(map[string]bool)
		for _, other := range tasks {
			if other.Name != t.Name {
				for _, p := range memory.Of(other).Outputs {
					others[p] = true
				}
			}
		}
		return others
	})
	return func(path string) bool { return others()[path] }
}

// Refresh looks at the dish of t again after something ran in it, and tells whether
// its sources are others than before.
func (e *Evaluator) Refresh(ctx context.Context, t *plan.Task) (changed bool) {
	dirs := []string{t.Dish.Path}
	for _, o := range t.Outputs {
		if strings.HasPrefix(o.Glob, "//") {
			dirs = append(dirs, territory.Prefix(t.Dish.Path, o.Glob))
		}
	}
	e.look(ctx, dirs)
	return e.lookedAgain(t.Dish)
}

func (e *Evaluator) look(ctx context.Context, dirs []string) {
	if err := e.tree.Refresh(ctx, dirs); err != nil && ctx.Err() == nil {
		e.warn("unreadable_directory", err.Error(), "")
	}
}

// ByProducts gives what a task has left in its dish without declaring it: what is
// new, and what was its by-product before and is still there. A file that was an
// input is none: somebody has changed it since, and the key tells of it.
func (e *Evaluator) ByProducts(ev *Result, before []tree.Entry) []lastrun.ByProduct {
	t := ev.Task
	own, owners := paths(e.memory.Of(t).ByProducts), e.otherByProducts(t)
	var list []lastrun.ByProduct
	var fresh []string
	for _, entry := range e.territories[t.Dish].Defaults(e.tree) {
		was, found := find(before, entry.Path)
		owner := owners[entry.Path]
		switch {
		case entry.Kind != tree.File:
			continue
		case found && !own[entry.Path] && (owner == nil || was.Same(&entry)):
			continue
		}
		if _, input := find(ev.Entries, entry.Path); input {
			continue
		}
		sum, err := e.tree.Index().Sum(entry)
		if err != nil {
			continue
		}
		b := lastrun.ByProduct{Path: entry.Path, Sum: sum}
		if owner != nil {
			e.reassign(owner, b)
			continue
		}
		list = append(list, b)
		if !own[entry.Path] {
			fresh = append(fresh, entry.Path)
		}
	}
	if len(fresh) > 0 && t.Uncached == "" {
		e.warn("by_products", fmt.Sprintf("%s made files that it does not declare: %s", t.ID(), diagnostics.Few(fresh)),
			"declare them as outputs, or have git ignore them")
	}
	return list
}

// find looks for a path among sorted entries.
func find(entries []tree.Entry, p string) (tree.Entry, bool) {
	i, found := slices.BinarySearchFunc(entries, p, func(e tree.Entry, p string) int { return strings.Compare(e.Path, p) })
	if !found {
		return tree.Entry{}, false
	}
	return entries[i], true
}

func paths(list []lastrun.ByProduct) map[string]bool {
	set := make(map[string]bool, len(list))
	for _, b := range list {
		set[b.Path] = true
	}
	return set
}

// otherByProducts gives, by path, the task of the same dish that it belongs to.
func (e *Evaluator) otherByProducts(t *plan.Task) map[string]*plan.Task {
	if !e.memory.Littered(t.Dish) {
		return nil
	}
	owners := make(map[string]*plan.Task)
	for _, other := range e.territories[t.Dish].Tasks {
		if other.Name == t.Name {
			continue
		}
		for _, b := range e.memory.Of(other).ByProducts {
			owners[b.Path] = other
		}
	}
	return owners
}

// reassign notes the content that a by-product of owner has now.
func (e *Evaluator) reassign(owner *plan.Task, b lastrun.ByProduct) {
	last := *e.memory.Of(owner)
	last.ByProducts = slices.Clone(last.ByProducts)
	for i := range last.ByProducts {
		if last.ByProducts[i].Path == b.Path {
			last.ByProducts[i] = b
		}
	}
	e.memory.Keep(owner, &last)
}
