package plan

import (
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/dish"
)

// Lost returns the problems of the language of a dish whose dish.toml names an adapter that is missing,
// refused or has failed; none for any other dish. Nothing is known of its recipes and links.
func Lost(d *dish.Dish) []diagnostics.Diagnostic {
	if d.Failure == nil || d.Adapter != nil || d.Config == nil {
		return nil
	}
	var problems diagnostics.Problems
	errors.As(d.Failure, &problems)
	return problems
}

// lostDishes returns the dishes without their adapter that the tasks of a plan need, by path. A plan needs a dish if
// it has a task of it, if a task depends on one of its tasks or counts its sources, or if the request may name one of
// its unknown recipes.
func (b *builder) lostDishes(req Request, tasks []*Task, selected []*dish.Dish) []*dish.Dish {
	lost := make(map[*dish.Dish]bool)
	for _, d := range b.ws.Dishes {
		if len(Lost(d)) > 0 {
			lost[d] = b.asked[d] || slices.Contains(selected, d) && req.mayName(d)
		}
	}
	if len(lost) == 0 {
		return nil
	}
	need := func(d *dish.Dish) {
		if _, is := lost[d]; is {
			lost[d] = true
		}
	}
	for _, t := range tasks {
		need(t.Dish)
		need(t.without)
		for _, d := range t.Sources {
			need(d)
		}
	}
	return slices.DeleteFunc(slices.Clone(b.ws.Dishes), func(d *dish.Dish) bool { return !lost[d] })
}

// LacksAdapter returns the problem of the dish without its adapter because of which t cannot run, nil
// for none.
func (t *Task) LacksAdapter() *diagnostics.Diagnostic {
	for _, d := range []*dish.Dish{t.Dish, t.without} {
		if d == nil {
			continue
		}
		if lost := Lost(d); len(lost) > 0 {
			return &lost[0]
		}
	}
	return nil
}

// mayName reports whether a request for all tasks of ci, for a lifecycle task or for a glob may name a
// recipe of a selected dish whose recipes are unknown.
func (r *Request) mayName(d *dish.Dish) bool {
	if len(r.Tasks) == 0 || r.AllTasks {
		return true
	}
	return slices.ContainsFunc(r.Tasks, func(name string) bool {
		dish, _, qualified := strings.Cut(name, ":")
		switch {
		case qualified && IsGlob(dish):
			return doublestar.MatchUnvalidated(dish, d.Name)
		case qualified:
			return false // the name of another dish, or no name of the lifecycle
		}
		return IsGlob(name) || adapters.IsLifecycle(name)
	})
}

// touches reports whether a path, relative to the workspace, is one of the dish's directory.
func touches(d *dish.Dish, changed []string) bool {
	return slices.ContainsFunc(changed, func(p string) bool { return d.Path == "." || contains(d.Path, path.Clean(p)) })
}

// KeepLost leaves in Lost the dishes that have a task in the plan, are needed by one, or have a changed
// file: those that a request which is narrowed to changes still needs.
func (p *Plan) KeepLost(changed []string) {
	p.Lost = slices.DeleteFunc(p.Lost, func(d *dish.Dish) bool {
		return !touches(d, changed) && !slices.ContainsFunc(p.Tasks, func(t *Task) bool {
			return t.Dish == d || t.without == d || slices.Contains(t.Sources, d)
		})
	})
}
