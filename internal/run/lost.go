package run

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"syscall"

	"github.com/bentobuild/bento/internal/key"
	"github.com/bentobuild/bento/internal/parallel"
	"github.com/bentobuild/bento/internal/plan"
)

// Outputs of a task may be gone when they are needed: another task may have removed them. The engine
// restores them before it executes a dependent, which would make a different result without them, and
// at the end of the run.

// lost returns the path of a missing output of a task, "" if none is missing.
func (e *engine) lost(t *plan.Task) string {
	r := e.node(t).result
	if r == nil || r.Outcome != CacheHit && r.Outcome != Built || t.Held || t.Persistent {
		return ""
	}
	for _, o := range e.node(t).ev.Outputs {
		if _, err := e.tree.Stat(o.Path); errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
			return o.Path
		}
	}
	return ""
}

// restoreLost restores the missing outputs of the tasks of a list, and then calls then.
func (e *engine) restoreLost(ctx context.Context, list []*plan.Task, then func()) {
	for i, t := range list {
		gone := e.lost(t)
		if gone == "" {
			continue
		}
		n := e.node(t)
		r := n.result
		if r.Outcome == Built {
			e.store()
		}
		record, err := e.env.Store.Lookup(r.Key)
		if err != nil {
			n.unsure = fmt.Sprintf("%q of %s was removed while something else ran", gone, t.ID())
			continue
		}
		e.env.warn("outputs_removed", fmt.Sprintf("%q of %s was removed while something else ran; it is restored", gone, t.ID()),
			"let no other task remove or declare it, or let that one depend on "+t.ID())
		ev, last, others := &key.Evaluation{Task: t, Key: r.Key, Record: record}, e.keys.History().Of(t), e.others(t)
		e.job(func() func() {
			_, err := e.restoreOutputs(ev, last, others)
			e.recorder.Replaced(t)
			return func() {
				if err != nil {
					n.unsure = fmt.Sprintf("%s has lost what it made: %v", t.ID(), err)
				}
				e.restoreLost(ctx, list[i+1:], then)
			}
		})
		return
	}
	then()
}

// executeAfterLost restores lost outputs of the dependencies of a task, then executes the task.
// It leaves out outputs that another dependency of the task has consumed.
func (e *engine) executeAfterLost(ctx context.Context, ev *key.Evaluation) {
	var list []*plan.Task
	if e.touched {
		for _, d := range ev.Task.Deps {
			if d.Via != plan.ViaNothing && !e.consumed(d.Task, ev.Task.Deps) {
				list = append(list, d.Task)
			}
		}
	}
	e.restoreLost(ctx, list, func() { e.executeInstalled(ctx, ev) })
}

// consumed reports whether one of others was executed and depends on t.
func (e *engine) consumed(t *plan.Task, others []plan.Dep) bool {
	return slices.ContainsFunc(others, func(o plan.Dep) bool {
		r := e.node(o.Task).result
		return r != nil && r.Outcome.Executed() && slices.ContainsFunc(o.Task.Deps, func(d plan.Dep) bool { return d.Task == t })
	})
}

// restoreAllLost restores the outputs that were lost during the run, except those that a later task has
// removed.
func (e *engine) restoreAllLost(ctx context.Context) {
	if !e.touched || e.serversUnneeded || e.stopped(ctx) != "" {
		return
	}
	gone := parallel.Map(e.plan.Tasks, func() *engine { return e }, (*engine).lost)
	consumed := make([]bool, len(e.plan.Tasks)) // a task that waits for it was executed
	var list []*plan.Task
	for i := len(e.plan.Tasks) - 1; i >= 0; i-- {
		for _, next := range e.plan.Graph.After(i) {
			r := e.nodes[next].result
			consumed[i] = consumed[i] || consumed[next] || r != nil && r.Outcome.Executed()
		}
		if gone[i] != "" && !consumed[i] {
			list = append(list, e.plan.Tasks[i])
		}
	}
	e.restoreLost(ctx, list, func() {})
	for e.running > 0 {
		apply := <-e.done
		e.running--
		apply()
	}
}
