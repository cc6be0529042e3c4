package record

import (
	"slices"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/internal/key"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/tree"
)

// Removable decides which files a restore of the outputs of a task may remove. It is for one
// goroutine.
type Removable struct {
	*Recorder
	Task   *plan.Task
	Others func(path string) bool // reports whether another task of the dish has made a path
	Had    []string               // the files that the last runs of the task have made, or left

	set  *tree.Set // the outputs
	area *key.OutputArea
	had  map[string]bool // Had; nil before it is needed
}

func (l *Removable) isOutput(p string) bool { return l.outputs().Match(p) || l.area.Has(p) }

func (l *Removable) outputs() *tree.Set {
	if l.set == nil {
		l.set, _ = OutputSet(l.Task) // an invalid glob was refused before anything ran
		l.area = key.NewOutputArea(l.Tree, l.Plan, l.Task)
	}
	return l.set
}

// Stale returns the files of Had that are not in want but still match an output of the task, without
// sources and files of other tasks.
func (l *Removable) Stale(want []cache.Output) []string {
	keep := make(map[string]bool, len(want))
	for _, o := range want {
		keep[o.Path] = true
	}
	had := slices.DeleteFunc(slices.Clone(l.Had), func(p string) bool { return keep[p] || key.IsOwn(p) || l.Tree.MayTrack(p) || l.Others(p) })
	return slices.DeleteFunc(had, func(p string) bool { return !l.isOutput(p) })
}

// Yields reports whether the file at p, which is in the way of an output, may be removed. It may if a run of the task
// has made it and no other task writes there. A file that no run has made may be the user's work.
func (l *Removable) Yields(p string) bool {
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
	for _, d := range l.Plan.Workspace.Dishes {
		if d != l.Task.Dish && key.Inside(d.Path, l.Task.Dish.Path) && key.Inside(p, d.Path) {
			return false
		}
	}
	return l.isOutput(p)
}
