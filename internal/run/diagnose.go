package run

import (
	"cmp"
	"context"
	"time"

	"github.com/bentobuild/bento/internal/action"
	"github.com/bentobuild/bento/internal/proc"
)

// diagnose parses the output of the task with the hook of its adapter. If a failed task has no
// finding in its output, it runs the hook's own command and parses that output too. If the parser
// fails, only the diagnostics are missing.
func (x *execution) diagnose(ctx context.Context) {
	t, r := x.ev.Task, x.result
	if t.Hook == nil && t.Parser == nil || r.Attempts == 0 {
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
	if err != nil && (r.Outcome == Failed || t.Parser != nil) && ctx.Err() == nil {
		x.env.warn("diagnostics_failed", "no diagnostics of "+t.ID()+": "+err.Error(), "")
	}
}

// printAgain runs the command of the hook, if there is one, and returns its output, which is not
// shown. The command has the environment and about the time limit of the task.
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
	spec.Env = stamped(t, spec.Env, x.stamp)
	spec.Stdout, spec.Stderr = said.Stdout, said.Stderr
	spec.Grace = cmp.Or(spec.Grace, x.opts.Grace)
	if spec.Timeout == 0 {
		spec.Timeout = x.result.Duration + time.Minute
	}
	res, err := proc.Run(ctx, spec)
	said.Exit = res.ExitCode
	return said, err == nil && !res.Canceled
}
