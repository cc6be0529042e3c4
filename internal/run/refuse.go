package run

import (
	"context"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/key"
	"github.com/bentobuild/bento/internal/plan"
)

// preflight returns the error of a run that cannot succeed. A result that arrives may need no tool, so it waits for the
// answers first.
func (e *engine) preflight(ctx context.Context) error {
	found := e.keys.Preflight(ctx)
	if len(found.Problems) > 0 && e.unanswered > 0 {
		e.settle(ctx)
		found = e.keys.Preflight(ctx)
	}
	return e.refuse(found)
}

// refuse returns the errors among problems that keep the run from starting. With --keep-going only
// the tasks with errors fail, and the others run.
func (e *engine) refuse(found key.Preflight) error {
	var list, warnings []diagnostics.Diagnostic
	for _, p := range found.Problems {
		if p.Severity == diagnostics.Error && !e.opts.KeepGoing {
			list = append(list, p)
			continue
		}
		warnings = append(warnings, p)
	}
	e.env.warnAll(diagnostics.Sorted(warnings))
	if err := diagnostics.AsError(list); err != nil {
		return append(diagnostics.Problems(diagnostics.Sorted(list)), found.Advice(e.plan.Tasks)...)
	}
	return nil
}

// questioned returns the tasks with a question that may be executed.
func (e *engine) questioned() (list []*plan.Task) {
	for _, n := range e.nodes {
		if n.task.Question() != "" && !n.task.Held && (n.ev == nil || n.ev.Status != key.Hit) {
			list = append(list, n.task)
		}
	}
	return list
}

// confirm asks about the tasks with a question that may be executed, and returns an error if the user does not want
// them.
func (e *engine) confirm(ctx context.Context) error {
	list := e.questioned()
	if len(list) > 0 && !e.opts.Yes && e.unanswered > 0 {
		e.settle(ctx)
		list = e.questioned()
	}
	switch {
	case len(list) == 0 || e.opts.Yes:
	case e.opts.Confirm == nil:
		return diagnostics.Refuse(ReasonNotConfirmed, "run it at a terminal, or add --yes", "%s asks before it runs: %s", list[0].ID(), list[0].Question())
	default:
		if err := e.opts.Confirm(ctx, list); err != nil {
			return err
		}
	}
	e.confirmed = make(map[*plan.Task]bool, len(list))
	for _, t := range list {
		e.confirmed[t] = true
	}
	return nil
}

// mayExecute reports whether a task needs no confirmation or has it. One that was a cache hit when the run began has
// none.
func (e *engine) mayExecute(t *plan.Task) bool {
	return t.Question() == "" || e.opts.Yes || e.confirmed[t]
}
