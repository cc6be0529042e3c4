package run

import (
	"context"
	"fmt"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/run/evaluate"
	"github.com/bentobuild/bento/internal/run/lastrun"
)

// executed takes in the end of an execution.
func (e *engine) executed(ctx context.Context, x *execution) {
	t, r := x.ev.Task, x.result
	e.refresh(ctx, t)
	if r.Outcome == Built {
		e.UpToDate(t, x.kept.Outputs)
		e.note(t, x.kept.Outputs)
		if x.ev.Known {
			e.Memory().Keep(t, &lastrun.Run{
				Key: x.ev.Key, Unstored: true, Duration: r.Duration, Outputs: x.kept.Own(), Found: x.kept.Found,
				ByProducts: e.ByProducts(x.ev, x.sources),
			})
		}
		if e.doubts[t.Index] = x.kept.Unsure; x.kept.Storable() {
			e.keep(ctx, x)
		} else if x.kept.Changed != "" {
			e.doubts[t.Index] = fmt.Sprintf("%s was made while %q changed", t.ID(), x.kept.Changed)
		}
	} else if r.Reason == ReasonInterrupted && ctx.Err() == nil {
		e.stop = ReasonInterrupted // Ctrl-C went to it alone
	} else if left := x.kept.Left(); len(left) > 0 {
		e.Memory().Leave(lastrun.ID(t), left)
	}
	e.end(r)
}

// keep has the result stored, under its key or the one that it has now that what
// the task left alone among its outputs counts as an input.
func (e *engine) keep(ctx context.Context, x *execution) {
	t, ev := x.ev.Task, x.ev
	if !x.kept.Settled() {
		if len(x.kept.Found) > 0 {
			e.env.warn("output_found", fmt.Sprintf("%s left %s as it was: it counts as an input, and is not stored with the result", t.ID(), diagnostics.Few(x.kept.Found)),
				"if the task makes it, remove it and run again, or say incremental = true")
		}
		if ev = e.Task(ctx, t); !ev.Known {
			return
		}
	}
	store := func() { e.add(x, ev) }
	if !e.postpone(t, store) {
		store()
	}
}

// add has the result stored under the key of ev.
func (e *engine) add(x *execution, ev *evaluate.Result) {
	t := x.ev.Task
	e.batch.Add(x.kept, ev, func() {
		x.result.Stored, x.result.Key = true, ev.Key
		ev.Stored()
		if last := *e.Memory().Of(t); last.Key != ev.Key || last.Unstored {
			last.Key, last.Unstored = ev.Key, false
			e.Memory().Keep(t, &last)
		}
	})
}

// store stores what waits for that, also after an interrupt.
func (e *engine) store() {
	if e.batch.Flush(context.Background()) {
		e.staleAll()
	}
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
