package run

import (
	"cmp"
	"time"

	"github.com/bentobuild/bento/internal/action"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/key"
	"github.com/bentobuild/bento/internal/plan"
)

// Executions that are observed under dish.ObserveAuto: the first of a command, and then some, by the key.
const (
	firstObserved = 2
	oneObservedIn = 20
)

// observes reports whether the execution of ev's task is observed. A task whose result is not stored needs no
// discovered inputs, and a tool is no process.
func (e *engine) observes(ev *key.Evaluation) bool {
	t, last := ev.Task, e.keys.History().Of(ev.Task)
	if t.Tool != nil || t.Container != nil || t.Persistent || t.Uncached != "" || !ev.Known || isUnobservable(ev, last) || e.env.Observer == nil {
		return false
	}
	switch e.observeMode(t) {
	case dish.ObserveAlways:
		return true
	case dish.ObserveAuto:
		first := last.Observed < firstObserved || last.Basis != ev.Basis()
		return first && !e.observing.isDear() || ev.Key[0]%oneObservedIn == 0
	}
	return false
}

// Under dish.ObserveAuto a run whose first executions spend more than a share of their CPU time on being observed, as
// scripts of a few milliseconds do, leaves the first executions of further tasks to a later run.
const (
	neverDear = 20                    // executions
	callCost  = 30 * time.Microsecond // CPU time of a call, about
	maxShare  = 4                     // one in so many
)

// observing is what the observed executions of a run cost.
type observing struct {
	executions int
	calls      time.Duration
	cpu        time.Duration
}

// note adds an execution; used is nil for one that was not observed.
func (o *observing) note(used *action.Used) {
	if used != nil {
		o.executions++
		o.calls += time.Duration(used.Calls) * callCost
		o.cpu += used.CPU
	}
}

// isDear reports whether observing costs more than it may.
func (o *observing) isDear() bool { return o.executions >= neverDear && o.calls > o.cpu/maxShare }

// isUnobservable reports whether the command of ev's task is known to fail when it is observed.
func isUnobservable(ev *key.Evaluation, last *key.LastRun) bool {
	return last.Unobservable && last.Basis == ev.Basis()
}

// observeMode returns which executions of a task are observed, as far as the workspace says it.
func (e *engine) observeMode(t *plan.Task) dish.Observe {
	if t.FindsOutputs() || t.FindsInputs() {
		return dish.ObserveAlways
	}
	return cmp.Or(t.Observe, e.opts.Observe, dish.ObserveNever)
}

// observed returns the number of executions of the command that were observed whole.
func (x *execution) observed() int {
	n := 0
	if x.kept.Last.Basis == x.ev.Basis() {
		n = x.kept.Last.Observed
	}
	if x.kept.Complete {
		n++
	}
	return n
}
