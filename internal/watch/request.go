package watch

import (
	"maps"

	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/run"
)

// Request is what a user wants of the next round.
type Request int32

// The requests. A greater one replaces a smaller one.
const (
	runNothing Request = iota
	RunFailed          // run failed tasks again
	RunAll             // run all tasks again
)

// Request makes tasks due in the next round.
func (w *Loop) Request(what Request) {
	if old := w.request.Load(); Request(old) < what {
		w.request.CompareAndSwap(old, int32(what))
	}
	w.rouse()
}

// RunTask makes one task due in the next round: bento executes it, or starts the server again.
func (w *Loop) RunTask(id string) {
	w.mu.Lock()
	if w.named == nil {
		w.named = make(map[string]bool)
	}
	w.named[id] = true
	w.mu.Unlock()
	w.rouse()
}

// takeRequest returns the request since the last call, and the tasks that RunTask has named.
func (w *Loop) takeRequest() (Request, map[string]bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	named := w.named
	w.named = nil
	return Request(w.request.Swap(int32(runNothing))), named
}

// requested reports whether a request is pending.
func (w *Loop) requested() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.named) > 0 || Request(w.request.Load()) != runNothing
}

// rouse makes the loop evaluate the workspace now.
func (w *Loop) rouse() {
	select {
	case w.wake <- struct{}{}:
	default: // the loop is already roused
	}
}

// makeDue makes the tasks due that a request names or concerns.
func (w *Loop) makeDue(what Request, named map[string]bool) {
	for id := range named {
		delete(w.last, id)
		if s := w.servers[id]; s != nil {
			s.restart.Store(true)
			w.stopServer(id)
			w.o.Restarting(id, "on request")
		}
	}
	if what == runNothing {
		return
	}
	found := what == RunAll
	for id, s := range w.servers {
		if s.hasEnded() && (what == RunAll || s.failed.Load()) {
			w.stopServer(id)
			found = true
		}
	}
	if what == RunAll {
		clear(w.last)
	}
	for id := range w.bad {
		delete(w.last, id)
		found = true
	}
	if !found {
		w.o.NoneFailed()
	}
}

// noteLatest keeps the result that Latest returns.
func (w *Loop) noteLatest(results []*run.Result) {
	var latest *run.Result
	for _, r := range results {
		if !r.Outcome.Executed() {
			continue
		}
		worse, late := r.Outcome == run.Failed, r.Started.Add(r.Duration)
		if latest == nil || worse && latest.Outcome != run.Failed || worse == (latest.Outcome == run.Failed) && late.After(latest.Started.Add(latest.Duration)) {
			latest = r
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if latest != nil {
		w.latest, w.serving = latest, nil
	}
}

// noteServing keeps a server that has started.
func (w *Loop) noteServing(t *plan.Task) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.serving = t
}

// Latest returns the last failed task of the last run, else what happened last: a task has ended, or a server has
// started, which it returns as serving. Both are nil before that.
func (w *Loop) Latest() (ended *run.Result, serving *plan.Task) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.serving != nil && (w.latest == nil || w.latest.Outcome != run.Failed) {
		return nil, w.serving
	}
	return w.latest, nil
}

// State counts the watched tasks while the loop waits.
type State struct {
	Tasks   int
	Failed  int  // tasks whose last run did not succeed
	Servers int  // running persistent tasks
	Broken  bool // the last evaluation found an error
}

// state returns a function that returns the current state until the next round: servers may end meanwhile.
func (w *Loop) state() func() State {
	now, servers := State{Tasks: w.watched, Failed: len(w.bad), Broken: w.failed}, maps.Clone(w.servers)
	return func() State {
		now := now
		for _, s := range servers {
			switch {
			case !s.hasEnded():
				now.Servers++
			case s.failed.Load():
				now.Failed++
			}
		}
		return now
	}
}
