package run

import (
	"cmp"
	"slices"

	"github.com/bentobuild/bento/internal/plan"
)

// continuesAfter reports whether later tasks that do not depend on the task of r still run. A plugin
// that fails costs its own tasks, and never the run.
func (e *engine) continuesAfter(r *Result) bool {
	return e.opts.KeepGoing || r.Outcome == Skipped && r.Reason == ReasonToolMissing || r.Outcome == Failed && r.Failure != nil
}

// skipDependents ends everything that waits for a task that did not succeed. If the run continues,
// it ends only the dependents, not the later tasks of the dish.
func (e *engine) skipDependents(r *Result) {
	reason, cause := ReasonDependencyFailed, r.Task.ID()+" failed"
	if r.Outcome == Skipped {
		reason, cause = r.Reason, cmp.Or(r.Message, r.Task.ID()+" did not succeed")
	}
	for _, i := range e.plan.Graph.After(r.Task.Index) {
		next := e.nodes[i]
		if next.phase > ready || e.continuesAfter(r) && !dependsOn(next.task, r.Task) {
			continue // it has begun already, or does not need the outputs
		}
		e.end(&Result{
			Task: next.task, Outcome: Skipped, Reason: reason,
			Message: cause,
		})
	}
}

func dependsOn(t, on *plan.Task) bool {
	return slices.ContainsFunc(t.Deps, func(d plan.Dep) bool { return d.Task == on })
}
