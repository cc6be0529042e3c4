// Package watch is the loop of bento watch: it runs tasks, waits for changes of files, and runs those tasks again
// whose keys the changes concern. It prints nothing, and knows neither a command line nor a terminal.
package watch

import (
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/internal/key"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/run"
)

// Options are the workspace and the functions that a Loop calls. None of them may be nil.
type Options struct {
	Root string // of the workspace, absolute, without links
	// Open opens the workspace, also while tasks of an earlier Workspace run.
	Open func(context.Context) (*Workspace, error)
	// Serve runs one persistent task after its dependencies, until it ends. It passes every event to see first, and
	// reports only those for which see returns true. Several goroutines call it.
	Serve func(ctx context.Context, id string, see func(run.Event) bool) error
	// Unread reports whether the output has lost its reader: then the loop ends after the running tasks.
	Unread func() bool

	// The functions below show what happens. Several goroutines call Failed.

	Rest       func(ran bool, state func() State) // the loop waits for changes; ran: tasks ran, or errors were corrected
	Changed    func(paths []string)
	Restarting func(id, why string) // a persistent task
	Corrected  func()               // the errors of the last evaluation
	NoneFailed func()               // there is no failed task to run again
	Failed     func(error)
	Warn       func(code, message, hint string)
}

// Workspace is an opened workspace.
type Workspace struct {
	Env *run.Env
	// Plan returns the plan of all watched tasks.
	Plan func(context.Context) (*plan.Plan, error)
	// Run runs a part of the plan. It ends the tasks that cancel receives, and takes no result from the cache for which
	// again returns true.
	Run   func(ctx context.Context, p *plan.Plan, cancel <-chan string, again func(*plan.Task) bool) (*run.Report, error)
	Close func()
}

// Loop runs tasks again after changes. Run is for one goroutine; the other methods are safe for concurrent use.
type Loop struct {
	o        Options
	notifier notifier
	concern  atomic.Pointer[func(path string) bool] // the changes that matter

	failed  bool                 // the last evaluation found an error
	paths   []string             // some of the paths that changed since the last round
	moved   []string             // the dishes that appeared or vanished since the last round
	ran     bool                 // tasks ran since the last rest
	last    map[string]cache.Key // by task: the key of its last run
	loops   map[string]int       // by task: its runs without a pause; a run that changed its own inputs counts more
	ended   map[string]int       // by task: how often bento ended it without a pause
	servers map[string]*server
	// serverBegan: a server that waited for its dependencies has started since the last round.
	serverBegan atomic.Bool
	bad         map[string]bool // tasks whose last run did not succeed
	watched     int             // the number of tasks in the last round

	request atomic.Int32    // the pending Request
	named   map[string]bool // the tasks that RunTask names since the last round; mu guards it
	wake    chan struct{}   // receives for each request
	mu      sync.Mutex
	latest  *run.Result // the last failed task of the last run, else the task that ended last
	serving *plan.Task  // the server that has started last, if after that
}

// New returns a loop.
func New(o Options) *Loop {
	return &Loop{
		o: o, last: make(map[string]cache.Key), loops: make(map[string]int), ended: make(map[string]int), servers: make(map[string]*server),
		bad: make(map[string]bool), wake: make(chan struct{}, 1),
	}
}

// Run evaluates the workspace, runs tasks and waits for changes, in a loop. It returns the error of ctx, the error
// of the first evaluation, or nil once the output is not read.
func (w *Loop) Run(ctx context.Context) error {
	w.notifier = notifier{root: w.o.Root, wake: w.wake, ignore: func(p string) bool {
		concerns := w.concern.Load()
		return concerns != nil && !(*concerns)(p)
	}}
	if err := w.notifier.start(); err != nil {
		w.o.Warn("watch_polls", "this system does not report changes: "+err.Error(), "bento checks the workspace every second")
	}
	defer w.notifier.close()
	defer w.stopServers()
	first := true
	own := false // the change of this round happened while tasks were running
	for {
		l, err := w.look(ctx)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && first:
			return err
		case err != nil:
			w.o.Failed(err)
			w.failed = true
		default:
			first = false
			w.corrected()
			own = w.round(ctx, l, own)
			l.ws.Close()
		}
		if !w.o.Unread() && (own || w.requested() || w.serverBegan.Swap(false)) {
			continue
		}
		w.o.Rest(w.ran && ctx.Err() == nil, w.state())
		w.ran = false
		if w.o.Unread() {
			return nil
		}
		b, err := w.notifier.next(ctx)
		if err != nil {
			return err
		}
		w.changed(b)
	}
}

// corrected notes that the last evaluation has found no error.
func (w *Loop) corrected() {
	if w.failed {
		w.o.Corrected()
	}
	w.ran, w.failed = w.ran || w.failed, false
}

// maxPaths is the maximal number of changed paths that are kept for messages.
const maxPaths = 256

// changed records the changes of a batch.
func (w *Loop) changed(b batch) {
	if len(b.paths) > 0 {
		w.o.Changed(b.paths)
	}
	w.moved = append(w.moved, b.replaced...)
	w.paths = append(w.paths, b.paths[:min(len(b.paths), maxPaths-len(w.paths))]...)
}

// forget drops the last keys of tasks whose dish vanished or appeared again: the outputs of these tasks may
// be missing.
func (w *Loop) forget(l *look) {
	present := make(map[string]bool, len(l.plan.Tasks))
	for _, t := range l.plan.Tasks {
		present[t.ID()] = !slices.ContainsFunc(w.moved, func(p string) bool { return p != "." && key.Inside(t.Dish.Path, p) })
	}
	w.moved = nil
	maps.DeleteFunc(w.last, func(id string, _ cache.Key) bool { return !present[id] })
	maps.DeleteFunc(w.bad, func(id string, _ bool) bool { return !present[id] })
}

// round runs the tasks whose key has changed since their last run. again reports whether files changed
// meanwhile.
func (w *Loop) round(ctx context.Context, l *look, own bool) (again bool) {
	keys, paths := l.keys(), w.paths
	w.paths = nil
	w.forget(l)
	if !own {
		clear(w.loops)
		clear(w.ended)
	}
	requested, named := w.takeRequest()
	w.makeDue(requested, named)
	var due, serve []string
	w.watched = 0
	for _, t := range l.plan.Tasks {
		id := t.ID()
		if t.Requested {
			w.watched++
		}
		switch key, known := keys[id]; {
		case !t.Requested:
		case t.Persistent:
			if w.isDue(l, id, paths) {
				serve = append(serve, id)
			}
		case known && w.last[id] == key:
		case w.circles(id, own):
			w.last[id] = key
		default:
			due = append(due, id)
		}
	}
	for _, id := range serve {
		w.restartServer(l.result(id), paths)
	}
	w.ran = w.ran || len(due)+len(serve) > 0
	if len(due) > 0 {
		again = w.runDue(ctx, l, due, func(t *plan.Task) bool { return requested == RunAll || named[t.ID()] })
	}
	for _, id := range serve {
		if ctx.Err() == nil {
			w.startServer(ctx, l.result(id))
		}
	}
	return again
}

// runDue runs the due tasks, and ends tasks whose keys change while they run. again reports whether files changed
// meanwhile.
func (w *Loop) runDue(ctx context.Context, l *look, due []string, force func(*plan.Task) bool) (again bool) {
	keys := l.keys()
	p, _ := l.plan.Narrow(func(t *plan.Task) bool { return slices.Contains(due, t.ID()) })
	cancel := make(chan string)
	running, ended := context.WithCancel(ctx)
	done := make(chan struct{})
	var r *run.Report
	var err error
	go func() {
		defer ended()
		defer close(done)
		r, err = l.ws.Run(ctx, p, cancel, force)
	}()
	again = w.follow(running, done, cancel, keys)
	if err != nil {
		w.o.Failed(err)
		for _, id := range due {
			w.last[id] = keys[id] // the task does not run again before a change
		}
		return again
	}
	w.noteLatest(r.Results)
	w.noteResults(r.Results, keys)
	return again
}

// noteResults stores the parts of the results of a run that the next rounds need.
func (w *Loop) noteResults(results []*run.Result, keys map[string]cache.Key) {
	executed := 0
	for _, res := range results {
		if res.Outcome.Executed() {
			executed++
		}
	}
	for _, res := range results {
		id := res.Task.ID()
		if res.Outcome.Executed() {
			w.count(res, executed == 1)
		}
		if !res.Task.Requested {
			continue
		}
		ended := res.Reason == run.ReasonChanged || res.Reason == run.ReasonInterrupted
		delete(w.bad, id)
		if res.Outcome == run.Failed || res.Outcome == run.Skipped && !ended {
			w.bad[id] = true
		}
		switch {
		case ended:
			// Its outputs are missing, so it runs again even if the change is undone.
			delete(w.last, id)
			w.ended[id]++
		case res.Key != (cache.Key{}):
			w.last[id] = res.Key
		default:
			w.last[id] = keys[id]
		}
	}
}

// follow receives changes until a run ends, and ends the tasks whose keys they change. The end of the run
// also ends ctx.
func (w *Loop) follow(ctx context.Context, done <-chan struct{}, cancel chan<- string, keys map[string]cache.Key) (changed bool) {
	for {
		b, err := w.notifier.next(ctx)
		w.changed(b)
		if err != nil { // ctx has ended; b has the changes until then
			<-done
			return changed || len(b.paths) > 0 || b.rescan
		}
		if len(b.paths) == 0 && !b.rescan {
			continue // the next round handles the request
		}
		changed = true
		now, err := w.look(ctx)
		if err != nil {
			continue // the next round reports it
		}
		for id, key := range now.keys() {
			if old, known := keys[id]; known && old != key && !w.endless(id) {
				keys[id] = key
				select {
				case cancel <- id:
				case <-done:
				}
			}
		}
		now.ws.Close()
	}
}
