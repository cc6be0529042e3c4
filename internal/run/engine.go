package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/cache/outputs"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/run/evaluate"
	"github.com/bentobuild/bento/internal/run/install"
	"github.com/bentobuild/bento/internal/run/journal"
	"github.com/bentobuild/bento/internal/run/overlap"
	"github.com/bentobuild/bento/internal/run/pin"
	"github.com/bentobuild/bento/internal/run/queue"
	"github.com/bentobuild/bento/internal/run/record"
	"github.com/bentobuild/bento/internal/tree"
)

// Options says how to run.
type Options struct {
	Workers      int // tasks at once; 0 means one
	KeepGoing    bool
	Force        bool // look nothing up in the cache
	SkipInstall  bool
	ForceInstall bool
	Output       bool          // report TaskOutput events
	Stdio        *Stdio        // of interactive tasks; nil: none, as of others
	Grace        time.Duration // between SIGTERM and SIGKILL; 0: that of package proc
	// Busy tells whether the machine has enough to do: then nothing is started beside
	// what is running, and it is asked again a second later. Nil means never.
	Busy func() bool
	// Cancel takes the ids of tasks that are not to go on: what they are working on
	// has changed. They and those that wait for them end as Skipped. Nil for none.
	Cancel <-chan string
}

// engine runs a plan. Everything in it belongs to one goroutine, the one that
// called Run; jobs on other goroutines hand back what they found as a function
// that this one applies.
type engine struct {
	*evaluate.Evaluator
	env      *Env
	plan     *plan.Plan
	tree     *tree.Tree
	opts     Options
	queue    *queue.Queue
	free     []*plan.Task // wait for nothing any more, and are not in the queue yet
	recorder *record.Recorder
	batch    *record.Batch // results that are to be stored
	restorer *outputs.Restorer
	unstage  func() // removes where the restorer stages; the journal goes only then
	waits    []int  // by task: how many it still waits for
	results  []*Result
	stale    []bool // by task: its evaluation has to be made again
	installs map[string]*scopeInstall
	report   []*install.Install
	release  func()             // lets other runs into the workspace
	placed   []*evaluate.Result // what look has found; nil when nobody looked
	touched  bool               // something was executed or restored, or has begun to be
	ending   int                // how many tasks are left that end by themselves
	needless bool               // none: servers that only those needed are ended
	stop     string             // the reason why nothing more is started, "" while things are
	doubts   []string           // by task: why what it has made may not be what its key says, "" if it is
	running  int
	jobs     chan func() func() // to who is idle
	done     chan func()
	said     chan func()                   // of jobs that go on
	begun    []bool                        // by task
	ready    []bool                        // by task: those that wait for it need not wait for its end
	cancel   map[string]context.CancelFunc // of what is being executed, by id
	overlaps overlap.Found
	made     map[int][]cache.Output // what tasks with rivals have made, by plan.Task.Index
	// postponed store results at the end of the run, if nothing has spoilt them by then.
	postponed []func()
	start     time.Time
	known     time.Duration // since start: until it was known what is a hit
}

// Evaluator gives the evaluator of a plan.
func (e *Env) Evaluator(p *plan.Plan, force bool) (*evaluate.Evaluator, error) {
	return evaluate.New(evaluate.Options{
		Root: e.Root, Store: e.Store, State: e.State, Toolchains: e.Toolchains, Environ: e.Environ, Inherit: e.Inherit,
		Force: force, Program: e.Program, Warn: e.Warn,
	}, p)
}

// Run brings every task of the plan up to date. The error is of the user's input,
// found before anything was started, or nil.
func Run(ctx context.Context, env *Env, p *plan.Plan, opts Options) (*Report, error) {
	overlaps := overlap.Find(p)
	if err := diagnostics.AsError(overlaps.Problems); err != nil {
		return nil, err
	}
	env.Toolchains.LetRun()
	ev, err := env.Evaluator(p, opts.Force)
	if err != nil {
		return nil, err
	}
	e := &engine{
		Evaluator: ev, env: env, plan: p, tree: p.Workspace.Tree, opts: opts, start: time.Now(),
		ending: countEnding(p), overlaps: overlaps, made: make(map[int][]cache.Output),
		waits: make([]int, len(p.Tasks)), results: make([]*Result, len(p.Tasks)), doubts: make([]string, len(p.Tasks)),
		stale: make([]bool, len(p.Tasks)), installs: make(map[string]*scopeInstall), done: make(chan func()), jobs: make(chan func() func()),
		said: make(chan func()), begun: make([]bool, len(p.Tasks)), ready: make([]bool, len(p.Tasks)), cancel: make(map[string]context.CancelFunc),
	}
	e.recorder = &record.Recorder{Root: env.Root, Store: env.Store, Tree: e.tree, Journal: journal.New(env.State), Warn: env.warn}
	e.batch = record.NewBatch(ev, e.recorder)
	stage, unstage := env.State.LazyTemp()
	e.unstage = unstage
	defer unstage()
	e.restorer = outputs.NewRestorer(env.Root, stage)
	defer e.restorer.Close()
	if _, err := e.All(ctx); err != nil && ctx.Err() == nil {
		return nil, err
	}
	if err := e.refuse(e.Preflight()); err != nil {
		return nil, err
	}
	e.reserve(ctx)
	e.known = time.Since(e.start)
	env.report(Started{Plan: p, Workers: max(1, opts.Workers), Estimate: e.estimate()})
	e.loop(ctx)
	e.mendAll(ctx)
	close(e.jobs)
	r := e.finish(ctx)
	e.release()
	return r, nil
}

// loop starts what is ready and takes in what has ended until nothing is left.
func (e *engine) loop(ctx context.Context) {
	e.queue = queue.New(max(1, e.opts.Workers), e.plan.Graph.Longest(func(i int) int64 {
		return int64(e.Memory().Of(e.plan.Tasks[i]).Duration) + 1
	}))
	e.queue.Exclude(e.overlaps.Rivals)
	for i := range e.waits {
		if e.waits[i] = len(e.plan.Graph.Before(i)); e.waits[i] == 0 {
			e.free = append(e.free, e.plan.Tasks[i])
		}
	}
	for {
		busy := e.startReady(ctx)
		if e.running == 0 {
			return
		}
		e.env.report(Waiting{})
		select {
		case apply := <-e.done:
			e.running--
			apply()
		case apply := <-e.said:
			apply()
		case id := <-e.opts.Cancel:
			e.drop(id)
		case <-busy:
		}
		if e.batch.Due() {
			e.store()
			e.Save()
		}
	}
}

// startReady starts what is ready. When the machine is too busy for all of it, it
// gives what tells when to try again.
func (e *engine) startReady(ctx context.Context) (again <-chan time.Time) {
	for {
		e.enqueue(ctx)
		if e.running > 0 && e.opts.Busy != nil && e.opts.Busy() {
			return time.After(time.Second)
		}
		t := e.queue.Next()
		if t == nil {
			return nil
		}
		e.begin(ctx, t)
	}
}

// enqueue puts tasks that wait for nothing any more into the queue, but for those that
// need no worker: they end here.
func (e *engine) enqueue(ctx context.Context) {
	for len(e.free) > 0 {
		t := e.free[0]
		e.free = e.free[1:]
		ev := e.Of(t)
		if e.results[t.Index] != nil || e.stopped(ctx) == "" && ev != nil && !e.stale[t.Index] && e.settle(ev) {
			continue
		}
		e.queue.Add(t)
	}
}

// estimate gives what the tasks that will be executed took the last time.
func (e *engine) estimate() []time.Duration {
	list := make([]time.Duration, len(e.plan.Tasks))
	for i, t := range e.plan.Tasks {
		if ev := e.Of(t); !t.Held && (ev == nil || ev.Status != evaluate.Hit) {
			list[i] = e.Memory().Of(t).Duration
		}
	}
	return list
}

// job runs f beside the others. What f returns is applied by the engine.
func (e *engine) job(f func() (apply func())) {
	e.running++
	e.touched = true
	select {
	case e.jobs <- f:
	default: // nobody is idle; who is has a stack that has grown
		go func() {
			for ok := true; ok; f, ok = <-e.jobs {
				e.done <- f()
			}
		}()
	}
}

// begin decides what happens to a task whose dependencies are up to date.
func (e *engine) begin(ctx context.Context, t *plan.Task) {
	if e.results[t.Index] != nil { // dropped while it waited for a worker
		e.queue.Release(t)
		return
	}
	if reason := e.stopped(ctx); reason != "" {
		e.end(&Result{Task: t, Outcome: Skipped, Reason: reason})
		return
	}
	e.begun[t.Index] = true
	ev := e.Of(t)
	if ev == nil || e.stale[t.Index] || ev.Reason == evaluate.MissPending {
		ev = e.Task(ctx, t)
		e.stale[t.Index] = false
	}
	switch {
	case e.settle(ev):
	case t.Held:
		e.doubts[t.Index] = t.ID() + " was left as it is"
		e.end(&Result{Task: t, Outcome: Skipped, Reason: ReasonOnly, Key: ev.Key})
	case ev.Err != nil:
		e.end(failure(ev))
	default:
		e.restoreOrExecute(ctx, e.Recorded(ctx, ev))
	}
}

// settle ends the task of a hit for which nothing has to be done, and tells whether it
// is one.
func (e *engine) settle(ev *evaluate.Result) bool {
	t := ev.Task
	if ev.Err != nil || ev.Status != evaluate.Hit || !e.isPlaced(ev) {
		return false
	}
	e.begun[t.Index] = true
	e.UpToDate(t, ev.Outputs)
	e.note(t, ev.Outputs)
	if t.Held {
		e.doubts[t.Index] = e.doubt(t)
	}
	e.end(&Result{Task: t, Outcome: CacheHit, Key: ev.Key, record: ev.Record})
	return true
}

// restoreOrExecute does what a task needs whose result is not in the workspace.
func (e *engine) restoreOrExecute(ctx context.Context, ev *evaluate.Result) {
	switch p := e.unmetPin(ev); {
	case ev.Err != nil:
		e.end(failure(ev))
	case ev.Status == evaluate.Hit:
		e.restoreBeside(ctx, ev)
	case p != nil: // only --keep-going gets here with one
		e.end(&Result{Task: ev.Task, Outcome: Failed, Reason: p.Rule, Message: p.Message, Key: ev.Key, ExitCode: -1})
	default:
		e.executeMended(ctx, ev)
	}
}

// unmetPin gives the pin that forbids to execute a task, nil for none.
func (e *engine) unmetPin(ev *evaluate.Result) *diagnostics.Diagnostic {
	if ev.Toolchain == "" {
		return nil
	}
	for _, p := range pin.Unmet(e.env.Root, ev.Task.Dish, ev.Toolchain) {
		if p.Severity == diagnostics.Error {
			return &p
		}
	}
	return nil
}

// restoreBeside starts to restore a hit.
func (e *engine) restoreBeside(ctx context.Context, ev *evaluate.Result) {
	last, others := e.Memory().Of(ev.Task), e.others(ev.Task)
	e.job(func() func() { return e.restore(ctx, ev, last, others) })
}

func (e *engine) stopped(ctx context.Context) string {
	if ctx.Err() != nil {
		return ReasonInterrupted
	}
	return e.stop
}

// failure is the result of a task that has no key.
func failure(ev *evaluate.Result) *Result {
	r := &Result{Task: ev.Task, Outcome: Failed, Reason: ev.Reason, Message: ev.Err.Error(), ExitCode: -1}
	if errors.As(ev.Err, &r.Failure) {
		r.Reason = string(r.Failure.Code)
	}
	return r
}

// end takes in how a task ended and makes those that waited for it ready.
func (e *engine) end(r *Result) {
	i := r.Task.Index
	if e.results[i] != nil {
		return
	}
	e.clash(r)
	e.results[i] = r
	e.queue.Release(r.Task)
	e.env.report(TaskFinished{Result: r})
	if !r.Task.Persistent {
		e.unreserve()
	}
	if r.Outcome == Failed || r.Outcome == Skipped && r.Reason != ReasonOnly {
		if r.Outcome == Failed && !e.opts.KeepGoing && e.stop == "" {
			e.stop = ReasonFailFast
		}
		e.skipDependents(r)
		if !e.opts.KeepGoing || e.waits[i] > 0 {
			return // what comes behind it waits for what it would have waited for
		}
	}
	e.let(r.Task)
}

// doubt says why the result of a task that is executed now cannot be trusted: what it
// depends on is not what its key says. "" if it can.
func (e *engine) doubt(t *plan.Task) string {
	for _, d := range t.Deps {
		if why := e.doubts[d.Task.Index]; why != "" && d.Via != plan.ViaNothing {
			return why
		}
	}
	return ""
}

// let starts what waits for nothing but t.
func (e *engine) let(t *plan.Task) {
	if e.ready[t.Index] {
		return
	}
	e.ready[t.Index] = true
	for _, next := range e.plan.Graph.After(t.Index) {
		e.waits[next]--
		switch {
		case e.waits[next] > 0:
		case e.results[next] == nil:
			e.free = append(e.free, e.plan.Tasks[next])
		case e.opts.KeepGoing: // it was skipped before its turn had come
			e.let(e.plan.Tasks[next])
		}
	}
}

// drop ends a task that is not to go on.
func (e *engine) drop(id string) {
	if cancel := e.cancel[id]; cancel != nil {
		cancel()
		return
	}
	for _, t := range e.plan.Tasks {
		if t.ID() == id && !e.begun[t.Index] {
			e.end(&Result{Task: t, Outcome: Skipped, Reason: ReasonChanged})
		}
	}
}

// skipDependents ends everything that waits for a task that did not succeed: with
// --keep-going only what depends on it, and not what comes behind it in its dish.
func (e *engine) skipDependents(r *Result) {
	reason := ReasonDependencyFailed
	if r.Outcome == Skipped {
		reason = r.Reason
	}
	for _, next := range e.plan.Graph.After(r.Task.Index) {
		if e.begun[next] || e.opts.KeepGoing && !dependsOn(e.plan.Tasks[next], r.Task) {
			continue // it did not wait for the end, or for what this has made
		}
		e.end(&Result{
			Task: e.plan.Tasks[next], Outcome: Skipped, Reason: reason,
			Message: fmt.Sprintf("%s did not succeed", r.Task.ID()),
		})
	}
}

func dependsOn(t, on *plan.Task) bool {
	return slices.ContainsFunc(t.Deps, func(d plan.Dep) bool { return d.Task == on })
}

// finish writes down what was learned and makes the report.
func (e *engine) finish(ctx context.Context) *Report {
	for _, t := range e.plan.Tasks { // what no path of the graph reached
		if e.results[t.Index] == nil {
			e.end(&Result{Task: t, Outcome: Skipped, Reason: ReasonNotStarted})
		}
	}
	e.storePostponed()
	e.store()
	e.Save()
	e.unstage()
	e.recorder.Journal.Close()
	r := &Report{
		Plan: e.plan, Results: e.results, Installs: e.report, Started: e.start, Evaluated: e.known,
		Duration: time.Since(e.start), Interrupted: ctx.Err() != nil || e.stop == ReasonInterrupted,
	}
	e.env.SumUp()
	r.Warnings = e.env.warnings.All()
	e.env.report(Finished{Report: r})
	return r
}

// refuse gives the errors among problems that keep the run from starting. With
// --keep-going the tasks that they are about fail, and the rest runs.
func (e *engine) refuse(problems []diagnostics.Diagnostic) error {
	var list []diagnostics.Diagnostic
	for _, p := range problems {
		if p.Severity == diagnostics.Error && !e.opts.KeepGoing {
			list = append(list, p)
			continue
		}
		e.env.Warn(p)
	}
	return diagnostics.AsError(list)
}
