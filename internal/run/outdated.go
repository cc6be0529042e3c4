package run

import (
	"context"
	"slices"

	"github.com/bentobuild/bento/internal/key"
	"github.com/bentobuild/bento/internal/plan"
)

// evaluated returns the evaluation of the task of n, as it is by now.
func (e *engine) evaluated(ctx context.Context, n *node) *key.Evaluation {
	if e.outdated(n) {
		n.stale = false
		return e.keys.Task(ctx, n.task)
	}
	return e.keys.Of(n.task)
}

// lookAgain looks again at the dish of n, where tasks before may have written what they do not declare, and
// returns the evaluation of the task of n. If that is executed anyway its inputs are looked at once more, and if
// one has changed its result is not stored; so it is enough to look for new files.
func (e *engine) lookAgain(ctx context.Context, n *node) *key.Evaluation {
	behind := e.isBehind(n)
	if behind || e.keys.Of(n.task).Status == key.Miss && !n.task.Held {
		if e.keys.LookAgain(ctx, n.task, behind) {
			e.staleAll()
		}
	}
	return e.evaluated(ctx, n)
}

// isBehind reports whether the task of n directly depends on one of another dish that was executed, and is
// likely to have written to its inputs if the task of n is no hit: it declares no outputs.
func (e *engine) isBehind(n *node) bool {
	ev := e.keys.Of(n.task)
	return ev != nil && slices.ContainsFunc(n.task.Deps, func(d plan.Dep) bool {
		r := e.node(d.Task).result
		return r != nil && r.Outcome.Executed() && d.Task.Dish != n.task.Dish && (ev.Status == key.Hit || len(d.Task.Outputs) == 0)
	})
}

// outdated reports whether the task of n has to be evaluated again, or for the first time.
func (e *engine) outdated(n *node) bool {
	ev := e.keys.Of(n.task)
	return ev == nil || n.stale || ev.Reason == key.MissPending || !e.keys.Holds(ev)
}
