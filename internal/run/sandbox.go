package run

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/action"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/key"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/record"
)

// Confined describes the sandbox of one execution.
type Confined struct {
	Reach   *record.Reach
	Network bool
	Observe bool // whether the execution is observed, too
}

// Sandbox makes the executors of sandboxed tasks.
type Sandbox struct {
	Confine func(Confined) action.Executor
	// Lacks returns the reason why there is no sandbox, with or without network; "" if there is one.
	Lacks func(network bool) string
}

// sandboxes reports whether t is sandboxed: if it says so itself, or if its surroundings do and its result is stored.
func (e *engine) sandboxes(t *plan.Task) bool {
	of := t.Sandbox
	if of == "" && e.opts.Sandbox != nil && t.Uncached == "" && !t.Persistent && !t.Interactive {
		of = e.opts.Sandbox(t.Dish)
	}
	return of == dish.SandboxInputs && t.Tool == nil
}

// unsandboxed returns an error for each task that has to be executed in a sandbox where there is none.
func (e *engine) unsandboxed() (found key.Preflight) {
	reasons := make(map[bool]string)
	for _, n := range e.nodes {
		t := n.task
		if !n.isMiss() || !e.sandboxes(t) || t.Container != nil {
			continue
		}
		why, known := reasons[t.Network]
		if !known {
			why = e.env.Sandbox.Lacks(t.Network)
			reasons[t.Network] = why
		}
		if why != "" {
			found.Problems = append(found.Problems, diagnostics.Diagnostic{
				Severity: diagnostics.Error, Rule: "sandbox_unavailable", Message: fmt.Sprintf("%s: its sandbox is not available: %s", t.ID(), why),
				Hint: `run it on a system with Landlock, or without --sandbox and sandbox = "inputs"`,
			})
		}
	}
	return found
}

// enterSandbox sets what the task may use, if it is sandboxed. It is for the goroutine of the engine.
func (e *engine) enterSandbox(x *execution) {
	t := x.ev.Task
	if x.far { // another machine has nothing but its inputs
		return
	}
	if x.sandboxed = e.sandboxes(t); x.sandboxed || t.Container != nil {
		x.reach, x.reachErr = x.kept.Reach()
	}
	if t.Container != nil && x.reachErr == nil {
		x.image, x.reachErr = e.env.Containers.ImageOf(t.Container)
	}
}

// maxDenied is how many files that a sandbox denied are named.
const maxDenied = 5

// tellDenied reports the files that the sandbox has denied a failed task. It is for the goroutine of the engine.
func (e *engine) tellDenied(x *execution) {
	t := x.ev.Task
	for i, f := range x.denied {
		if i == maxDenied {
			e.env.warn("sandbox_denied", fmt.Sprintf("%s: it may not use %d more files", t.ID(), len(x.denied)-i), "")
			return
		}
		what, hint := x.kept.Denied(strings.TrimPrefix(f.Path, strings.TrimSuffix(e.env.Root, "/")+"/"), f.Use&(action.Write|action.Remove) != 0)
		e.env.warn("sandbox_denied", t.ID()+": "+what, hint)
	}
}

// observeDenied executes the command of a sandboxed task that has failed again, and notes which files the sandbox
// denies. That execution changes nothing of the result.
func (x *execution) observeDenied(ctx context.Context) {
	t, r := x.ev.Task, x.result
	if !x.sandboxed || t.Container != nil || r.Outcome != Failed || r.Reason != reasonExit || x.deniedWhole || t.SideEffects || ctx.Err() != nil {
		return
	}
	if x.kept.Again() != nil {
		return
	}
	c, err := x.command(x.ev.Task)
	if err != nil {
		return
	}
	c.Stdout, c.Stderr, c.Ready = io.Discard, io.Discard, nil
	executor := x.env.Sandbox.Confine(Confined{Reach: x.reach, Network: x.ev.Task.Network, Observe: true})
	_, _ = action.Run(ctx, executor, c, func() {})
}

// used notes what an executor has observed.
func (x *execution) used(u *action.Used) {
	if len(u.Denied) > 0 {
		x.denied = u.Denied
	}
	if x.observe {
		x.kept.Used, x.deniedWhole = u.After(x.kept.Used), true
	}
}
