package run

import (
	"fmt"
	"maps"
	"slices"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/plan"
)

// Tasks whose output globs overlap, and of which none depends on the other, run one after
// another. Once both have ended, the engine compares their outputs: a file that both made belongs
// to neither. Until then it stores no results of them and of their dependents.

// clash fails r and a rival that has already ended if both made the same file.
func (e *engine) clash(r *Result) {
	n := e.node(r.Task)
	if e.overlaps.Rivals == nil || len(e.overlaps.Rivals[r.Task.Index]) == 0 || r.Outcome != Built && r.Outcome != CacheHit {
		return
	}
	made := make(map[string]bool)
	for _, o := range n.made(r) {
		if o.Kind != cache.Dir {
			made[o.Path] = true
		}
	}
	for _, i := range e.overlaps.Rivals[r.Task.Index] {
		other := e.nodes[i]
		before := other.result
		if before == nil || len(made) == 0 {
			continue
		}
		var both []string
		for _, o := range other.made(before) {
			if made[o.Path] {
				both = append(both, o.Path)
			}
		}
		if len(both) == 0 {
			continue
		}
		r.fails(before.Task, both)
		if before.Outcome == Built || before.Outcome == CacheHit {
			before.fails(r.Task, both)
			e.env.report(TaskFinished{Result: before})
			other.unsure = before.Message
			e.skipDependents(before)
		}
	}
}

// fails turns a successful result into a failure, because another task made the same files.
func (r *Result) fails(other *plan.Task, both []string) {
	r.Outcome, r.Reason, r.Stored = Failed, reasonMadeTwice, false
	r.Message = fmt.Sprintf("%s made %s too, and neither depends on the other", other.ID(), diagnostics.Few(both))
}

// others returns a function that reports whether another task has made a path that may be an output of t. The other
// tasks are those of its directory, and those whose outputs overlap those of t. It is safe for concurrent use.
func (e *engine) others(t *plan.Task) func(path string) bool {
	var list []*plan.Task
	for _, d := range e.plan.Workspace.ByPath[t.Dish.Path] {
		for _, other := range e.plan.TasksOf(d) {
			if other.Place() != t.Place() {
				list = append(list, other)
			}
		}
	}
	for _, i := range e.overlaps.near(t) {
		list = append(list, e.plan.Tasks[i])
	}
	return e.keys.History().MadeBy(list)
}

// before returns a function that reports whether a task before t has made a path. The tasks before t are its direct
// and indirect dependencies in its directory, their direct dependencies in other directories, and earlier tasks whose
// outputs overlap those of t. It is safe for concurrent use.
func (e *engine) before(t *plan.Task) func(path string) bool {
	var list []*plan.Task
	var add func(of *plan.Task)
	add = func(of *plan.Task) {
		for _, d := range of.Deps {
			if !slices.Contains(list, d.Task) {
				if list = append(list, d.Task); d.Task.Dish.Path == t.Dish.Path {
					add(d.Task)
				}
			}
		}
	}
	add(t)
	for _, i := range e.overlaps.near(t) {
		if i < t.Index && e.plan.Tasks[i].Dish != t.Dish && !slices.Contains(e.overlaps.Rivals[t.Index], i) {
			list = append(list, e.plan.Tasks[i])
		}
	}
	return e.keys.History().MadeBy(list)
}

// near returns the indices of the tasks of the plan that may make outputs of t.
func (o overlaps) near(t *plan.Task) []int {
	if o.Near == nil {
		return nil
	}
	return o.Near[t.Index]
}

// postpone reports whether a result of t can be stored only at the end of the run, as t or a task before it
// has a rival. If so, it arranges that store is called then, unless a file was made twice by then.
func (e *engine) postpone(t *plan.Task, store func()) bool {
	if e.overlaps.Rivals == nil {
		return false
	}
	tasks := append(slices.Collect(maps.Keys(t.First())), t)
	if !slices.ContainsFunc(tasks, func(t *plan.Task) bool { return len(e.overlaps.Rivals[t.Index]) > 0 }) {
		return false
	}
	e.postponed = append(e.postponed, func() {
		if !slices.ContainsFunc(tasks, func(t *plan.Task) bool {
			r := e.node(t).result
			return r != nil && r.Reason == reasonMadeTwice
		}) {
			store()
		}
	})
	return true
}

// storePostponed stores the postponed results that no other task has invalidated.
func (e *engine) storePostponed() {
	for _, store := range e.postponed {
		store()
	}
	e.postponed = nil
}
