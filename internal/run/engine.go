package run

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/plan"
)

// Options says how to run.
type Options struct {
	Workers      int // tasks at once; 0 means one
	KeepGoing    bool
	Force        bool // look nothing up in the cache
	SkipInstall  bool
	ForceInstall bool
	Output       bool          // report TaskOutput events
	Grace        time.Duration // between SIGTERM and SIGKILL; 0: that of package proc
}

// engine runs a plan. Everything in it belongs to one goroutine, the one that
// called Run; jobs on other goroutines hand back what they found as a function
// that this one applies.
type engine struct {
	*evaluator
	opts     Options
	queue    *queue
	waits    []int // by task: how many it still waits for
	results  []*Result
	current  []bool // by task: its outputs are what its result says
	stale    []bool // by task: its evaluation has to be made again
	installs map[string]*scopeInstall
	report   []*Install
	stop     string // the reason why nothing more is started, "" while things are
	running  int
	done     chan func()
	start    time.Time
}

// Evaluate finds the key and the status of every task without running anything.
func Evaluate(ctx context.Context, env *Env, p *plan.Plan, force bool) (*Evaluated, error) {
	e, err := newEvaluator(env, p, force)
	if err != nil {
		return nil, err
	}
	if err := e.evaluateAll(ctx); err != nil {
		return nil, err
	}
	return &Evaluated{Tasks: e.evaluations, Problems: e.preflight(e.evaluations), evaluator: e}, nil
}

// Run brings every task of the plan up to date. The error is of the user's input,
// found before anything was started, or nil.
func Run(ctx context.Context, env *Env, p *plan.Plan, opts Options) (*Report, error) {
	ev, err := newEvaluator(env, p, opts.Force)
	if err != nil {
		return nil, err
	}
	e := &engine{
		evaluator: ev, opts: opts, start: time.Now(),
		waits: make([]int, len(p.Tasks)), results: make([]*Result, len(p.Tasks)),
		current: make([]bool, len(p.Tasks)), stale: make([]bool, len(p.Tasks)),
		installs: make(map[string]*scopeInstall), done: make(chan func()),
	}
	ev.upToDate = func(t *plan.Task) bool { return e.current[t.Index] }
	if err := e.evaluateAll(ctx); err != nil && ctx.Err() == nil {
		return nil, err
	}
	if err := e.refuse(e.preflight(e.evaluations)); err != nil {
		return nil, err
	}
	env.report(Started{Plan: p})
	e.loop(ctx)
	return e.finish(ctx), nil
}

// loop starts what is ready and takes in what has ended until nothing is left.
func (e *engine) loop(ctx context.Context) {
	e.queue = newQueue(max(1, e.opts.Workers), e.plan.Graph.Longest(func(i int) int64 {
		return int64(e.memory.of(e.plan.Tasks[i]).Duration) + 1
	}))
	for i := range e.waits {
		if e.waits[i] = len(e.plan.Graph.Before(i)); e.waits[i] == 0 {
			e.queue.add(e.plan.Tasks[i])
		}
	}
	for {
		for t := e.queue.next(); t != nil; t = e.queue.next() {
			e.begin(ctx, t)
		}
		if e.running == 0 {
			return
		}
		apply := <-e.done
		e.running--
		apply()
	}
}

// job runs f beside the others. What f returns is applied by the engine.
func (e *engine) job(f func() (apply func())) {
	e.running++
	go func() { e.done <- f() }()
}

// begin decides what happens to a task whose dependencies are up to date.
func (e *engine) begin(ctx context.Context, t *plan.Task) {
	if reason := e.stopped(ctx); reason != "" {
		e.end(&Result{Task: t, Outcome: Skipped, Reason: reason})
		return
	}
	ev := e.evaluations[t.Index]
	if ev == nil || e.stale[t.Index] || ev.Reason == MissPending {
		ev = e.evaluate(ctx, t)
		e.evaluations[t.Index], e.stale[t.Index] = ev, false
	}
	switch {
	case ev.Err != nil:
		e.end(failure(ev))
	case ev.Status == Hit:
		e.job(func() func() { return e.restore(ctx, ev) })
	default:
		e.executeInstalled(ctx, ev)
	}
}

func (e *engine) stopped(ctx context.Context) string {
	if ctx.Err() != nil {
		return ReasonInterrupted
	}
	return e.stop
}

// failure is the result of a task that has no key.
func failure(ev *Evaluation) *Result {
	r := &Result{Task: ev.Task, Outcome: Failed, Reason: ev.Reason, Message: ev.Err.Error()}
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
	e.results[i] = r
	e.queue.release(r.Task)
	e.env.report(TaskFinished{Result: r})
	if r.Outcome == Failed || r.Outcome == Skipped {
		if r.Outcome == Failed && !e.opts.KeepGoing && e.stop == "" {
			e.stop = ReasonFailFast
		}
		e.skipDependents(r)
		return
	}
	for _, next := range e.plan.Graph.After(i) {
		if e.waits[next]--; e.waits[next] == 0 && e.results[next] == nil {
			e.queue.add(e.plan.Tasks[next])
		}
	}
}

// skipDependents ends everything that waits for a task that did not succeed.
func (e *engine) skipDependents(r *Result) {
	reason := ReasonDependencyFailed
	if r.Outcome == Skipped {
		reason = r.Reason
	}
	for _, next := range e.plan.Graph.After(r.Task.Index) {
		e.end(&Result{
			Task: e.plan.Tasks[next], Outcome: Skipped, Reason: reason,
			Message: fmt.Sprintf("%s did not succeed", r.Task.ID()),
		})
	}
}

// finish writes down what was learned and makes the report.
func (e *engine) finish(ctx context.Context) *Report {
	for _, t := range e.plan.Tasks { // what no path of the graph reached
		if e.results[t.Index] == nil {
			e.end(&Result{Task: t, Outcome: Skipped, Reason: ReasonNotStarted})
		}
	}
	e.save()
	r := &Report{
		Plan: e.plan, Results: e.results, Installs: e.report,
		Duration: time.Since(e.start), Interrupted: ctx.Err() != nil,
	}
	e.env.mu.Lock()
	r.Warnings = e.env.warnings
	e.env.mu.Unlock()
	e.env.report(Finished{Report: r})
	return r
}

// save writes what was learned. It does so also after an interrupt, hence the
// context of its own.
func (e *evaluator) save() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	for _, err := range []error{e.memory.save(ctx), e.env.Toolchains.Save(), e.tree.Index().Save()} {
		if err != nil {
			e.env.warn("state_unwritable", "bento's memory of this workspace cannot be written: "+err.Error(),
				"the next run will work out again what this one knew")
		}
	}
}

// Evaluated is the result of Evaluate.
type Evaluated struct {
	Tasks    []*Evaluation // by plan.Task.Index
	Problems []diagnostics.Diagnostic
	*evaluator
}

// Save keeps what was learned for the next invocation.
func (e *Evaluated) Save() { e.save() }

// missingTool gives the missing tool of an evaluation, nil when none is missing.
func (ev *Evaluation) missingTool() *adapters.MissingTool {
	var m *adapters.MissingTool
	if errors.As(ev.Err, &m) {
		return m
	}
	return nil
}
