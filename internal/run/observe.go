package run

import (
	"cmp"

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
		return last.Observed < firstObserved || last.Basis != ev.Basis() || ev.Key[0]%oneObservedIn == 0
	}
	return false
}

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
