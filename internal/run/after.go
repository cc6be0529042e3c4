package run

import (
	"context"
	"fmt"

	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/run/evaluate"
	"github.com/bentobuild/bento/internal/run/lastrun"
)

// executed takes in the end of an execution.
func (e *engine) executed(ctx context.Context, x *execution) {
	t, r := x.ev.Task, x.result
	before := e.Sources(t)
	e.refresh(ctx, t)
	if r.Outcome == Built {
		e.UpToDate(t, x.outputs)
		if x.ev.Known {
			e.Memory().Keep(t, &lastrun.Run{
				Key: x.ev.Key, Duration: r.Duration, Outputs: outputPaths(x.outputs), Found: x.found,
				ByProducts: e.ByProducts(x.ev, before),
			})
		}
		if x.record != nil && !r.Stored {
			e.storeFound(ctx, x)
		}
	}
	e.end(r)
}

// storeFound stores the result of a task that left alone what lay among its
// outputs: that counts as an input, which the key did not know.
func (e *engine) storeFound(ctx context.Context, x *execution) {
	t := x.ev.Task
	if len(x.found) > 0 {
		e.env.warn("output_found", fmt.Sprintf("%s left %s as it was: it counts as an input, and is not stored with the result", t.ID(), evaluate.Named(x.found)),
			"if the task makes it, remove it and run again, or say incremental = true")
	}
	ev := e.Task(ctx, t)
	if !ev.Known || x.inputChanged() != "" {
		return
	}
	if err := x.store(ev); err != nil {
		x.warnStore(err)
		return
	}
	last := *e.Memory().Of(t)
	last.Key = ev.Key
	e.Memory().Keep(t, &last)
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
