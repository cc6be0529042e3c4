package run

import (
	"context"
	"time"

	"github.com/bentobuild/bento/internal/action"
)

// diagnose parses the output of the task with the hook of its adapter. If a failed task has no
// finding in its output, it runs the hook's own command and parses that output too. If the parser
// fails, only the diagnostics are missing.
func (x *execution) diagnose(ctx context.Context) {
	t, r := x.ev.Task, x.result
	if t.Hook == nil && t.Parser == nil || r.Attempts == 0 {
		return
	}
	printed := action.NewFindings()
	printed.Exit = r.ExitCode
	if r.ReplayLog(nil, printed.Add) != nil {
		return
	}
	found, err := printed.Parse(ctx, t, x.env.Root, x.env.Parse)
	if len(found) == 0 && r.Outcome == Failed && r.Reason == reasonExit && r.Signal == "" {
		if again, ok := x.printAgain(ctx); ok {
			found, err = again.Parse(ctx, t, x.env.Root, x.env.Parse)
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
	c, err := x.command(t)
	if err != nil {
		return nil, false
	}
	printed := action.NewFindings()
	c.Stdout, c.Stderr = printed.Stdout, printed.Stderr
	if c.Timeout == 0 {
		c.Timeout = x.result.Duration + time.Minute
	}
	res, err := action.Run(ctx, x.executor(t), c, nil)
	printed.Exit = res.ExitCode
	return printed, err == nil && !res.Canceled
}
