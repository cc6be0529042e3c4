package run

import (
	"fmt"
	"sync"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/key"
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
		other := &e.nodes[i]
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

// overlapping reports whether another task of the plan may make outputs of t.
func (e *engine) overlapping(t *plan.Task) bool {
	return e.overlaps.Near != nil && len(e.overlaps.Near[t.Index]) > 0
}

// near returns a function that reports whether one of tasks, by index, has made a path. It is safe
// for concurrent use, and reads the history at its first call.
func (e *engine) near(tasks []int) func(path string) bool {
	memory, list := e.keys.History(), make([]*plan.Task, len(tasks))
	for i, t := range tasks {
		list[i] = e.plan.Tasks[t]
	}
	made := sync.OnceValue(func() map[string]bool { return remembered(memory, list) })
	return func(path string) bool { return made()[path] }
}

func remembered(m *key.History, tasks []*plan.Task) map[string]bool {
	made := make(map[string]bool)
	for _, t := range tasks {
		for _, p := range m.Of(t).Outputs {
			made[p] = true
		}
	}
	return made
}

// others returns a function that reports whether another task has made a path that may be
// an output of t.
func (e *engine) others(t *plan.Task) func(path string) bool {
	others := e.keys.MadeByOthers(t)
	if !e.overlapping(t) {
		return others
	}
	near := e.near(e.overlaps.Near[t.Index])
	return func(path string) bool { return others(path) || near(path) }
}

// before returns a function that reports whether a dependency of t has made a path.
func (e *engine) before(t *plan.Task) func(path string) bool {
	before := e.keys.MadeBefore(t)
	if !e.overlapping(t) {
		return before
	}
	var first []int
	for _, i := range e.overlaps.Near[t.Index] {
		if i < t.Index && e.plan.Tasks[i].Dish != t.Dish && !e.rival(t, i) {
			first = append(first, i)
		}
	}
	near := e.near(first)
	return func(path string) bool { return before(path) || near(path) }
}

func (e *engine) rival(t *plan.Task, other int) bool {
	for _, r := range e.overlaps.Rivals[t.Index] {
		if r == other {
			return true
		}
	}
	return false
}

// postpone reports whether a result of t can be stored only at the end of the run. If so, it arranges
// that store is called then, unless a file was made twice by then.
func (e *engine) postpone(t *plan.Task, store func()) bool {
	if e.overlaps.Rivals == nil || !e.dependsOnAny(t, func(i int) bool { return len(e.overlaps.Rivals[i]) > 0 }) {
		return false
	}
	e.postponed = append(e.postponed, func() {
		if !e.dependsOnAny(t, func(i int) bool {
			r := e.nodes[i].result
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

// dependsOnAny reports whether is returns true for t or for a dependency of t, direct or not.
func (e *engine) dependsOnAny(t *plan.Task, is func(index int) bool) bool {
	seen := make(map[int]bool)
	var any func(t *plan.Task) bool
	any = func(t *plan.Task) bool {
		if seen[t.Index] {
			return false
		}
		seen[t.Index] = true
		if is(t.Index) {
			return true
		}
		for _, d := range t.Deps {
			if any(d.Task) {
				return true
			}
		}
		return false
	}
	return any(t)
}
