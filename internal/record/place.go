package record

import (
	"slices"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/discovery"
	"github.com/bentobuild/bento/internal/key"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/tree"
)

// Place tells what may go from where the outputs of a task lie, when they are restored.
// It is for one goroutine.
type Place struct {
	Task   *plan.Task
	Tree   *tree.Tree
	Others func(path string) bool // what other tasks of the dish have made
	Dishes []*discovery.Dish
	Had    []string // what the last runs of the task have made, or left

	set *tree.Set       // the outputs
	had map[string]bool // Had; nil until asked for
}

func (l *Place) outputs() *tree.Set {
	if l.set == nil {
		l.set, _ = OutputSet(l.Task) // a glob with an error was refused before anything ran
	}
	return l.set
}

// Stale lists what of Had is not in want, still an output of the task, and neither a
// source nor what another task has made.
func (l *Place) Stale(want []cache.Output) []string {
	keep := make(map[string]bool, len(want))
	for _, o := range want {
		keep[o.Path] = true
	}
	had := slices.DeleteFunc(slices.Clone(l.Had), func(p string) bool { return keep[p] || key.IsOwn(p) || l.Tree.MayTrack(p) || l.Others(p) })
	return slices.DeleteFunc(had, func(p string) bool { return !l.outputs().Match(p) })
}

// Yields reports whether what lies at p, and is in the way of an output, may be removed: a
// run of the task has made it, and it lies where the task alone is to write. What no run has
// made is somebody's work.
func (l *Place) Yields(p string) bool {
	if l.had == nil {
		l.had = make(map[string]bool, len(l.Had))
		for _, made := range l.Had {
			l.had[made] = true
		}
	}
	if !l.had[p] {
		return false
	}
	if key.IsOwn(p) || l.Tree.MayTrack(p) || l.Others(p) || !key.Inside(p, l.Task.Dish.Path) {
		return false
	}
	for _, d := range l.Dishes {
		if d != l.Task.Dish && key.Inside(d.Path, l.Task.Dish.Path) && key.Inside(p, d.Path) {
			return false
		}
	}
	return l.outputs().Match(p)
}
