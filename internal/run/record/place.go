package record

import (
	"slices"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/discovery"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/run/territory"
	"github.com/bentobuild/bento/internal/tree"
)

// Place tells what may go from where the outputs of a task lie, when they are restored.
// It is for one goroutine.
type Place struct {
	Task   *plan.Task
	Tree   *tree.Tree
	Others func(path string) bool // what other tasks of the dish have made
	Dishes []*discovery.Dish

	set *tree.Set // the outputs
}

func (l *Place) outputs() *tree.Set {
	if l.set == nil {
		l.set, _ = OutputSet(l.Task) // a glob with an error was refused before anything ran
	}
	return l.set
}

// Stale lists what of had is not in want, still an output of the task, and neither a
// source nor what another task has made.
func (l *Place) Stale(had []string, want []cache.Output) []string {
	keep := make(map[string]bool, len(want))
	for _, o := range want {
		keep[o.Path] = true
	}
	had = slices.DeleteFunc(had, func(p string) bool { return keep[p] || territory.IsOwn(p) || l.Tree.MayTrack(p) || l.Others(p) })
	return slices.DeleteFunc(had, func(p string) bool { return !l.outputs().Match(p) })
}

// Yields tells whether what lies at p, and is in the way of an output, may be removed,
// whoever has left it there: it lies where the task alone is to write.
func (l *Place) Yields(p string) bool {
	if territory.IsOwn(p) || l.Tree.MayTrack(p) || l.Others(p) || !territory.Inside(p, l.Task.Dish.Path) {
		return false
	}
	for _, d := range l.Dishes {
		if d != l.Task.Dish && territory.Inside(d.Path, l.Task.Dish.Path) && territory.Inside(p, d.Path) {
			return false
		}
	}
	return l.outputs().Match(p)
}
