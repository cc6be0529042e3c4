package run

import (
	"context"
	"fmt"
	"slices"

	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/run/evaluate"
)

// insideEnv tells a task whose run it is part of: a bento that it starts in the same
// workspace must not wait for the run to end.
const insideEnv = "BENTO_INSIDE"

// reserve keeps other runs out of the workspace while this one changes it: whoever
// reads what a task made must not find it half made by another. A run with nothing
// to do reserves nothing. After waiting for another everything is looked at again:
// what that one made may be all that is needed.
func (e *engine) reserve(ctx context.Context) {
	e.release = func() {}
	if e.env.Environ.Get(insideEnv) == e.env.Root || e.idle() {
		return
	}
	waited := false
	release, err := e.env.State.Lock(ctx, "locks/run.lock", func(owner string) {
		waited = true
		e.env.warn("waiting", fmt.Sprintf("another bento runs in this workspace (%s); waiting for it", owner), "")
	})
	if err != nil {
		return // a state that cannot be written is warned of when it is saved
	}
	e.release = release
	e.env.State.Sweep()
	if waited && ctx.Err() == nil {
		e.Reload(ctx)
		_, _ = e.All(ctx) // the error is that of ctx, which everything else asks too
	}
}

// idle tells whether every task is a hit and what it makes is in place.
func (e *engine) idle() bool {
	for _, t := range e.plan.Tasks {
		if ev := e.Of(t); ev == nil || ev.Status != evaluate.Hit || !e.settled(ev) {
			return false
		}
	}
	return true
}

// settled tells whether nothing has to be done for a hit.
func (e *engine) settled(ev *evaluate.Result) bool {
	return e.Memory().Of(ev.Task).Key == ev.Key && e.InPlace(ev.Record)
}

func hasPersistent(p *plan.Plan) bool {
	return slices.ContainsFunc(p.Tasks, func(t *plan.Task) bool { return t.Persistent })
}

// unreserve lets others in once nothing is left but tasks that do not end by
// themselves.
func (e *engine) unreserve() {
	for _, t := range e.plan.Tasks {
		if e.results[t.Index] == nil && !t.Persistent {
			return
		}
	}
	e.release()
	e.release = func() {}
}
