package run

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/cache/outputs"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/key"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/record"
	"github.com/bentobuild/bento/internal/tree"
)

// Options are the settings of a run.
type Options struct {
	Workers   int // tasks at once; 0 means one
	KeepGoing bool
	Force     bool // ignore cached results
	// Again reports whether to ignore the cached results of a task, as Force does for all. Nil means of none.
	Again        func(*plan.Task) bool
	SkipInstall  bool
	ForceInstall bool
	Output       bool         // report TaskOutput events
	Stdio        *Stdio       // of interactive tasks; nil: they have none, like other tasks
	Observe      dish.Observe // of tasks that do not say it themselves
	// Sandbox returns the sandbox of the tasks of a dish that do not set it themselves. Nil means none.
	Sandbox func(*dish.Dish) dish.Sandbox
	Grace   time.Duration // between SIGTERM and SIGKILL; 0: the default of package proc
	// Busy reports whether the machine is busy: while a task runs, the engine then starts no other
	// one, and calls Busy again after a second. Nil means never busy.
	Busy func() bool
	// Memory returns the memory in bytes that the tasks that run at once may declare together, 0 for
	// no limit. It is called only if a task declares its memory. Nil means no limit.
	Memory func() int64
	// Confirm returns nil if the user wants tasks with a question (plan.Task.Question) to run, and otherwise the error
	// of the run. Yes means that no question is asked. Without both, such tasks are refused.
	Confirm func(context.Context, []*plan.Task) error
	Yes     bool
	// Cancel receives the ids of tasks whose inputs have changed. These tasks and their dependents
	// end as Skipped.
	Cancel <-chan string
	// Seen is called after each execution, by the goroutine of Run. It may be nil.
	Seen func(*Seen)
	// Saving is called with the report, whose Duration, Warnings and Interrupted are not final, while
	// the state of the workspace is saved. Nil does nothing.
	Saving func(*Report)
}

// engine runs a plan. It belongs to the goroutine of Run, which applies the functions that jobs return.
type engine struct {
	keys            *key.Evaluator
	files           key.Files
	env             *Env
	plan            *plan.Plan
	tree            *tree.Tree
	opts            Options
	nodes           []*node // by plan.Task.Index
	queue           *readyQueue
	free            []*node             // have no pending dependencies, and are not in the queue yet
	waiting         []*node             // wait for an answer from elsewhere before they come into the queue
	asked           map[cache.Key]*node // what is asked elsewhere, and for which task
	pulls           bool                // everything is asked for, and nothing runs
	unanswered      int                 // the number of keys that are asked for and have no answer yet
	wake            time.Time           // when the first of waiting does not wait any more; zero for never
	idle            time.Duration       // a worker was idle because tasks waited for answers, none of which was a hit yet
	idleSince       time.Time           // zero while no worker is idle for that
	recorder        *record.Recorder
	batch           *record.Batch // results that are to be stored
	restorer        *outputs.Restorer
	outDir          func() (path string, discard func(again bool), err error) // for the outputs of a tool
	unstage         func()                                                    // removes these and the stage; the journal is closed after it
	installs        map[string]*scopeInstall
	stale           map[string]bool // scopes by their id, of those that were looked at: whether their install is out of date
	installReports  []*Install
	release         func() // unlocks the workspace for other runs
	touched         bool   // an execution or a restore has begun
	ending          int    // the number of tasks without a result that are not persistent
	observing       observing
	serversUnneeded bool                // all tasks that are not persistent have ended
	visits          int                 // the number of calls of upstream
	confirmed       map[*plan.Task]bool // the tasks with a question that may run
	toldFar         []string            // why tasks were not executed elsewhere
	stop            string              // the reason why no more tasks are started, "" while they are
	running         int
	jobs            chan func() func() // to idle goroutines
	workers         sync.WaitGroup     // those goroutines
	done            chan func()
	progress        chan func() // from jobs that are still running
	overlaps        overlaps
	// postponed store results at the end of the run, if nothing has invalidated them by then.
	postponed []func()
	start     time.Time
	known     time.Duration // the time from start until all hits were known
}

func (e *engine) node(t *plan.Task) *node { return e.nodes[t.Index] }

// keep sets the last evaluation of a task.
func (e *engine) keep(ev *key.Evaluation) {
	n := e.node(ev.Task)
	n.ev, n.inPlace = ev, false
}

// Run brings every task of the plan up to date. The error is an error of the user's input that was
// found before any task started, or nil.
func Run(ctx context.Context, env *Env, p *plan.Plan, opts Options) (*Report, error) {
	overlaps := FindOverlaps(p)
	if err := diagnostics.AsError(append(overlaps.Problems, findDeadlocks(p)...)); err != nil {
		return nil, err
	}
	if err := env.refuseRecursion(p); err != nil {
		return nil, err
	}
	e, err := newEngine(env, p, opts, overlaps)
	if err != nil {
		return nil, err
	}
	defer e.unstage()
	defer e.restorer.Close()
	defer e.dropAll()
	if err := e.evaluate(ctx); err != nil && ctx.Err() == nil {
		return nil, err
	}
	if err := e.preflight(ctx); err != nil {
		return nil, err
	}
	if err := e.refuse(e.unsandboxed()); err != nil {
		return nil, err
	}
	if err := e.confirm(ctx); err != nil {
		return nil, err
	}
	e.startGuard()
	env.Snapshot.Acts()
	e.reserveIfNeeded(ctx)
	for _, n := range e.nodes { // a task that reads the files while their times are set would not be stored
		if n.isMiss() {
			e.freshen(ctx, n)
		}
	}
	e.known = time.Since(e.start)
	env.report(Started{Plan: p, Workers: max(1, opts.Workers), At: e.start, Estimate: e.estimate()})
	e.loop(ctx)
	e.restoreAllLost(ctx)
	close(e.jobs)
	e.workers.Wait()
	r := e.finish(ctx)
	e.release()
	return r, nil
}

// newEngine returns an engine whose tasks are pending. The caller calls unstage and closes the restorer.
func newEngine(env *Env, p *plan.Plan, opts Options, overlaps overlaps) (*engine, error) {
	env.Toolchains.LetRun()
	e := &engine{
		env: env, plan: p, tree: env.Tree, opts: opts, start: time.Now(),
		nodes: make([]*node, len(p.Tasks)), ending: countEnding(p), overlaps: overlaps, installs: make(map[string]*scopeInstall),
		done: make(chan func()), jobs: make(chan func() func()), progress: make(chan func()),
	}
	nodes := make([]node, len(p.Tasks)) // one allocation for all
	for i, t := range p.Tasks {
		nodes[i].task, nodes[i].waits = t, len(p.Graph.Before(i))
		e.nodes[i] = &nodes[i]
	}
	var err error
	e.keys, err = env.Evaluator(p, opts.Force, func(t *plan.Task) *key.Evaluation { return e.node(t).ev })
	if err != nil {
		return nil, err
	}
	e.keys.Again(opts.Again)
	e.recorder = &record.Recorder{
		Root: env.Root, Store: env.Store, Tree: e.tree, Plan: p, Environ: env.Environ, History: e.keys.History,
		Journal: record.NewJournal(env.State), Warn: env.warn, Moves: env.Moves,
	}
	e.files = key.FilesOf(e.keys)
	e.batch = record.NewBatch(e.keys, e.recorder)
	stage, unstage := env.State.LazyTemp()
	outDir, removeOuts := env.State.LazyDirs()
	e.outDir, e.unstage = outDir, func() { unstage(); removeOuts() }
	e.restorer = outputs.NewRestorer(env.Root, stage)
	return e, nil
}

// loop starts ready tasks and handles the ends of tasks until none is left.
func (e *engine) loop(ctx context.Context) {
	e.queue = newReadyQueue(max(1, e.opts.Workers), e.plan.Graph.Longest(func(i int) int64 {
		return int64(e.keys.History().Of(e.plan.Tasks[i]).Duration) + 1
	}))
	e.queue.Exclude(e.overlaps.Rivals)
	if e.env.Elsewhere.Execute != nil {
		e.queue.Extend(max(1, e.env.Elsewhere.Jobs), e.isFar, e.bringHome)
	}
	e.queue.memory.share(e.plan.Tasks, e.opts.Memory)
	for _, n := range e.nodes {
		if n.waits == 0 {
			e.makeReady(n)
		}
	}
	for {
		e.awake(ctx)
		busy := e.startReady(ctx)
		if e.running+len(e.waiting) == 0 {
			return
		}
		e.env.report(waiting{})
		ready, wake, interrupt := e.answers(ctx)
		e.files.ReadBeside()
		select {
		case apply := <-e.done:
			e.running--
			apply()
		case apply := <-e.progress:
			apply()
		case id := <-e.opts.Cancel:
			e.cancelTask(id)
		case <-ready:
			e.heard(ctx)
		case <-wake:
		case <-interrupt:
		case <-busy:
		}
		if e.batch.Due() {
			e.store()
			e.keys.Save(nil)
		}
	}
}

// startReady starts the ready tasks. If the machine is too busy for all of them, it returns a channel
// that receives when it is time to try again.
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

// estimate returns, by plan.Task.Index, the last durations of the tasks that will be executed.
func (e *engine) estimate() []time.Duration {
	list := make([]time.Duration, len(e.plan.Tasks))
	for i, t := range e.plan.Tasks {
		if ev := e.node(t).ev; !t.Held && (ev == nil || ev.Status != key.Hit) {
			list[i] = e.keys.History().Of(t).Duration
		}
	}
	return list
}

// job runs f in another goroutine. The goroutine of Run calls the function that f returns.
func (e *engine) job(f func() (apply func())) {
	e.running++
	e.touched = true
	select {
	case e.jobs <- f:
	default: // no goroutine is idle; the stack of an idle one has grown already
		e.workers.Go(func() {
			for ok := true; ok; f, ok = <-e.jobs {
				e.done <- f()
			}
		})
	}
}

// begin decides what happens to a task whose dependencies are up to date.
func (e *engine) begin(ctx context.Context, t *plan.Task) {
	n := e.node(t)
	if n.phase == done { // skipped while it waited for a worker
		e.queue.Release(t)
		return
	}
	if reason := e.stopped(ctx); reason != "" {
		e.end(&Result{Task: t, Outcome: Skipped, Reason: reason})
		return
	}
	n.to(begun)
	if ev := e.keys.Renew(ctx, t); ev != n.ev {
		e.keep(ev)
		e.ask(ctx, []*node{n})
	}
	switch ev := n.ev; {
	case e.endIfInPlace(n):
	case t.Held:
		n.unsure = t.ID() + " was left as it is"
		e.end(&Result{Task: t, Outcome: Skipped, Reason: reasonOnly, Key: ev.Key})
	case ev.Status == key.LeftOut:
		e.end(&Result{Task: t, Outcome: Skipped, Reason: ReasonToolMissing, Message: strings.Join(ev.Notes, ", ")})
	case ev.Err != nil:
		e.end(failure(ev))
	default:
		e.carryOut(ctx, n)
	}
}

// carryOut restores or executes a task, whose evaluation is that of now.
func (e *engine) carryOut(ctx context.Context, n *node) {
	if e.keys.Load(ctx, n.ev, false); n.ev.Status != key.Hit {
		e.freshen(ctx, n)
	}
	e.restoreOrExecute(ctx, n)
}

// endIfInPlace ends the task of a hit whose outputs are in place, and reports whether it is one.
func (e *engine) endIfInPlace(n *node) bool {
	t, ev := n.task, n.ev
	if ev.Err != nil || ev.Status != key.Hit || !e.isInPlace(n) {
		return false
	}
	e.keys.UpToDate(ev, ev.Outputs)
	if t.Held {
		n.unsure = e.unsureDependency(t)
	}
	e.end(&Result{Task: t, Outcome: CacheHit, Key: ev.Key, record: ev.Record})
	return true
}

// restoreOrExecute restores or executes a task whose result is not in the workspace.
func (e *engine) restoreOrExecute(ctx context.Context, n *node) {
	ev := n.ev
	switch p := unmetPin(e.env.Root, ev); {
	case ev.Err != nil:
		e.end(failure(ev))
	case ev.Status == key.Hit:
		n.to(restoring)
		last, others := e.keys.History().Of(n.task), e.others(n.task)
		e.job(func() func() { return e.restore(ctx, ev, last, others) })
	case ev.NoImage != nil: // only possible with --keep-going
		e.end(&Result{Task: n.task, Outcome: Failed, Reason: ev.Reason, Message: ev.NoImage.Error(), ExitCode: -1})
	case p != nil: // likewise
		e.end(&Result{Task: n.task, Outcome: Failed, Reason: p.Rule, Message: p.Message, Key: ev.Key, ExitCode: -1})
	default:
		e.executeAfterLost(ctx, ev)
	}
}

// unmetPin returns the problem of the pin that forbids the execution of a task, nil for none.
func unmetPin(root string, ev *key.Evaluation) *diagnostics.Diagnostic {
	if ev.Toolchain == "" {
		return nil
	}
	for _, p := range key.UnmetPins(root, ev.Task.Dish, ev.Toolchain) {
		if p.Severity == diagnostics.Error {
			return &p
		}
	}
	return nil
}

// stopped returns the reason why no more tasks are started, "" while they are.
func (e *engine) stopped(ctx context.Context) string {
	if ctx.Err() != nil {
		return ReasonInterrupted
	}
	return e.stop
}

// interrupted returns the result of a task that the interrupt has ended.
func interrupted(ev *key.Evaluation) *Result {
	return &Result{Task: ev.Task, Outcome: Skipped, Reason: ReasonInterrupted, Key: ev.Key}
}

// failure returns the result of a task without a key.
func failure(ev *key.Evaluation) *Result {
	if errors.Is(ev.Err, context.Canceled) {
		return interrupted(ev)
	}
	r := &Result{Task: ev.Task, Outcome: Failed, Reason: ev.Reason, Message: ev.Err.Error(), ExitCode: -1}
	if errors.As(ev.Err, &r.Failure) {
		r.Reason = string(r.Failure.Code)
	}
	if lacks := ev.Task.LacksAdapter(); lacks != nil {
		r.Reason, r.Message = lacks.Rule, lacks.Message
	}
	return r
}

// end records the result of a task and releases its dependents.
func (e *engine) end(r *Result) {
	n := e.node(r.Task)
	if n.phase == done {
		return
	}
	e.clash(r)
	served := n.phase == serving
	n.to(done)
	n.result, r.Remote = r, n.isRemote(r)
	if r.Outcome.Executed() {
		r.Install = e.installFor(r.Task)
	}
	e.queue.Release(r.Task)
	e.env.report(TaskFinished{Result: r})
	if !r.Task.Persistent {
		e.unreserve()
	}
	if r.Outcome == Failed || r.Outcome == Skipped && r.Reason != reasonOnly {
		if r.Outcome == Failed && !e.continuesAfter(r) && e.stop == "" {
			e.stop = reasonFailFast
		}
		e.skipDependents(r)
		if !e.continuesAfter(r) || n.waits > 0 {
			return // later tasks of its dish still wait for the dependencies that it waits for
		}
	}
	if !served {
		e.releaseDependents(n)
	}
}

// unsureDependency returns the reason why a result of t that is made now is unreliable: the outputs of a
// dependency may not match its key. It returns "" if they match.
func (e *engine) unsureDependency(t *plan.Task) string {
	for _, d := range t.Deps {
		n := e.node(d.Task)
		if n.storing != nil && n.storing.IsInvalid() {
			n.invalidate()
		}
		if n.unsure != "" && d.Via != plan.ViaNothing {
			return n.unsure
		}
	}
	return ""
}

// makeReady makes a task ready that waits for no other one.
func (e *engine) makeReady(n *node) {
	n.to(ready)
	e.free = append(e.free, n)
}

// releaseDependents makes the tasks ready that wait only for n.
func (e *engine) releaseDependents(n *node) {
	for _, i := range e.plan.Graph.After(n.task.Index) {
		next := e.nodes[i]
		next.waits--
		switch {
		case next.waits > 0:
		case next.phase == pending:
			e.makeReady(next)
		case e.continuesAfter(next.result): // it was skipped before its turn had come
			e.releaseDependents(next)
		}
	}
}

// cancelTask cancels a running task, and skips one that has not begun.
func (e *engine) cancelTask(id string) {
	for _, n := range e.nodes {
		switch {
		case n.task.ID() != id:
		case n.cancel != nil:
			n.cancel()
		case n.phase <= ready:
			e.end(&Result{Task: n.task, Outcome: Skipped, Reason: ReasonChanged})
		}
	}
}
