package run

import (
	"context"

	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/run/evaluate"
)

// executed takes in the end of an execution.
func (e *engine) executed(ctx context.Context, x *execution) {
	t, r := x.ev.Task, x.result
	before := e.Sources(t)
	e.refresh(ctx, t)
	if r.Outcome == Built {
		e.UpToDate(t, x.outputs)
		if x.ev.Known {
			e.Memory().Keep(t, &evaluate.Remembered{
				Key: x.ev.Key, Duration: r.Duration, Outputs: outputPaths(x.outputs),
				ByProducts: e.ByProducts(x.ev, before),
			})
		}
	}
	e.end(r)
}

// refresh looks at a dish again after something ran in it. Tasks that have not
// begun and may see the difference are evaluated again.
func (e *engine) refresh(ctx context.Context, t *plan.Task) {
	if e.Refresh(ctx, t) {
		e.staleAll()
	}
	for _, next := range e.plan.Graph.After(t.Index) {
		e.stale[next] = true
	}
}

func (e *engine) staleAll() {
	for i := range e.stale {
		e.stale[i] = true
	}
}
