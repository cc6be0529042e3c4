package run

import (
	"context"
	"fmt"
	"slices"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/key"
)

// executed handles the end of an execution.
func (e *engine) executed(ctx context.Context, x *execution) {
	t, r := x.ev.Task, x.result
	e.keys.NoteWritten(context.WithoutCancel(ctx), key.Written{Executed: t}) // an interrupted one would miss changes of the inputs
	e.observing.note(x.kept.Used)
	e.tellSeen(x)
	if r.Outcome == Failed {
		e.tellDenied(x)
		e.tellMaker(x)
		e.keys.History().Fail(t, r.Message)
	}
	if r.Attempts > 0 {
		defer e.keys.History().Executed(x.ev, r.Started.Add(r.Duration))
	}
	switch {
	case r.Outcome == Built:
		e.built(ctx, x)
	case r.Reason == ReasonInterrupted && ctx.Err() == nil:
		e.stop = ReasonInterrupted // only the task received Ctrl-C
	default:
		if left := x.kept.Left(); len(left) > 0 {
			e.keys.History().Leave(t.Place(), left)
		}
	}
	e.end(r)
}

// built handles the outputs of a good execution: it records what it has made, and stores the result if that is reliable.
func (e *engine) built(ctx context.Context, x *execution) {
	t, n := x.ev.Task, e.node(x.ev.Task)
	e.keys.UpToDate(n.ev, x.kept.Outputs)
	if x.ev.Known {
		x.kept.Discover()
		x.kept.Shared(e.others(t))
		e.tellUnignored(x)
		e.tellBeside(x)
		own, warned := e.undeclared(x, e.keys.History().Of(t))
		e.keys.History().Keep(t, &key.LastRun{
			Key: x.ev.Key, Unstored: true, Duration: x.result.Duration, Outputs: x.kept.Own(), Found: x.kept.AllFound(),
			Discovered: x.kept.Discovered, Observed: x.observed(), Basis: x.ev.Basis(), Unobservable: x.unobservable, Unseen: x.kept.Unseen, Reads: x.kept.Reads,
			ByProducts: slices.Concat(e.files.ByProducts(x.ev, x.sources), x.kept.Rewritten),
			Undeclared: own, Warned: warned,
		})
	}
	if n.unsure = x.kept.Unsure; x.kept.Storable() {
		e.storeResult(ctx, x)
	} else if x.kept.Changed != "" {
		n.unsure = fmt.Sprintf("%s was made while %q changed", t.ID(), x.kept.Changed)
	}
}

// tellBeside warns of files that a task has made below the outputs of another one.
func (e *engine) tellBeside(x *execution) {
	t := x.ev.Task
	if list := x.kept.Beside; len(list) > 0 && t.Uncached == "" {
		e.env.warn("by_products", fmt.Sprintf("%s made files below the outputs of another task, and does not declare them: %s", t.ID(), diagnostics.Few(list)),
			"declare them as outputs of "+t.ID())
	}
}

// storeResult stores the result of an execution. Files among the outputs that the task did not make
// are inputs: if there are any, storeResult computes a new key first.
func (e *engine) storeResult(ctx context.Context, x *execution) {
	t, ev := x.ev.Task, x.ev
	if !x.kept.KeyHolds() {
		if len(x.kept.Found) > 0 {
			e.env.warn("output_found", fmt.Sprintf("%s left %s as it was: it counts as an input, and is not stored with the result", t.ID(), diagnostics.Few(x.kept.Found)),
				"if the task makes it, remove it and run again, or say incremental = true")
		}
		if list := x.kept.FreshStrays; len(list) > 0 {
			e.env.warn("stray_output", fmt.Sprintf("%s was executed while %s lay among the outputs of its dependencies, none of which made it: it counts as an input of %s", t.ID(), diagnostics.Few(list), t.ID()),
				"remove it if nothing needs it; if a task makes it, declare it there as an output and let "+t.ID()+" depend on that task")
		}
		ev = e.keys.Evaluate(ctx, t)
		e.keep(ev)
		e.keys.UpToDate(ev, x.kept.Outputs) // even if the cache has other outputs under that key
		if !ev.Known {
			return
		}
		if dish := key.SourcesChanged(x.ev, ev); dish != "" {
			e.node(t).unsure = fmt.Sprintf("%s was made while the sources of %q changed", t.ID(), dish)
			return
		}
	}
	store := func() { e.add(ctx, x, ev) }
	if !e.postpone(t, store) {
		store()
	}
}

// add adds the result to the batch, which stores it under the key of ev.
func (e *engine) add(ctx context.Context, x *execution, ev *key.Evaluation) {
	t, n := x.ev.Task, e.node(x.ev.Task)
	n.storing = x.kept
	send, withdraw := e.announce(ctx, x, ev)
	e.batch.Add(x.kept, ev, func() {
		n.storing = nil
		send()
		x.result.Stored, x.result.Key = true, ev.Key
		ev.Stored()
		e.keys.History().Change(t.Place(), func(last *key.LastRun) { last.Key, last.Unstored = ev.Key, false })
	}, func() {
		withdraw()
		n.storing = nil
		n.invalidate()
	})
}

// store stores the pending results, even after an interrupt.
func (e *engine) store() {
	e.batch.Check(context.Background())
	e.batch.Store()
}
