package run

import (
	"context"
	"time"

	"github.com/bentobuild/bento/internal/action"
	"github.com/bentobuild/bento/internal/proc"
)

// diagnose turns what the task has printed into diagnostics, as the hook of its
// adapter says. Where that says nothing of a failure, what the hook's own command
// prints is looked at too. A parser that fails costs the diagnostics and nothing else.
func (x *execution) diagnose(ctx context.Context) {
	t, r := x.ev.Task, x.result
	if t.Hook == nil || r.Attempts == 0 {
		return
	}
	said := action.NewFindings()
	said.Exit = r.ExitCode
	if r.ReplayLog(nil, said.Add) != nil {
		return
	}
	found, err := said.Parse(ctx, t, x.env.Root)
	if len(found) == 0 && r.Outcome == Failed && r.Reason == "exit_status" && r.Signal == "" {
		if again, ok := x.printAgain(ctx); ok {
			found, err = again.Parse(ctx, t, x.env.Root)
		}
	}
	r.Diagnostics = found
	if err != nil && r.Outcome == Failed && ctx.Err() == nil {
		x.env.warn("diagnostics_failed", "no diagnostics of "+t.ID()+": "+err.Error(), "")
	}
}

// printAgain runs the command of the hook, if there is one, and gives what it
// printed. It runs as the task did, not much longer, and nobody sees it.
func (x *execution) printAgain(ctx context.Context) (*action.Findings, bool) {
	t, ok := action.Again(x.ev.Task)
	if !ok {
		return nil, false
	}
	spec, err := x.env.commands().Spec(t)
	if err != nil {
		return nil, false
	}
	said := action.NewFindings()
	spec.Stdout, spec.Stderr = said.Stdout, said.Stderr
	spec.Grace = x.opts.Grace
	if spec.Timeout == 0 {
		spec.Timeout = x.result.Duration + time.Minute
	}
	res, err := proc.Run(ctx, spec)
	said.Exit = res.ExitCode
	return said, err == nil && !res.Canceled
}
