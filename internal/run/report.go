package run

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/dag"
	"github.com/bentobuild/bento/internal/plan"
)

// Report is the result of a run.
type Report struct {
	Plan        *plan.Plan
	Results     []*Result // by plan.Task.Index
	Installs    []*Install
	Warnings    []diagnostics.Diagnostic
	Started     time.Time
	Evaluated   time.Duration // the time from Started until all hits were known
	Duration    time.Duration
	Interrupted bool
	Remote      RemoteUse
	Far         RemoteExecutions
}

// finish saves the state and makes the report.
func (e *engine) finish(ctx context.Context) *Report {
	results := make([]*Result, len(e.nodes))
	for i, n := range e.nodes {
		if n.phase != done { // no path of the graph reached it
			e.end(&Result{Task: n.task, Outcome: Skipped, Reason: reasonNotStarted})
		}
		results[i] = n.result
	}
	e.storePostponed()
	e.batch.Check(context.Background())
	r := &Report{Plan: e.plan, Results: results, Installs: e.installReports, Started: e.start, Evaluated: e.known, Far: e.countFar()}
	var saving sync.WaitGroup
	e.keys.Save(func() {
		e.batch.Store()
		if e.opts.Saving != nil {
			saving.Go(func() { e.opts.Saving(r) })
		}
	})
	saving.Wait()
	e.unstage()
	e.recorder.Journal.Close()
	e.finishRemote(ctx, r)
	r.Duration, r.Interrupted = time.Since(e.start), ctx.Err() != nil || e.stop == ReasonInterrupted
	e.env.SumUp()
	r.Warnings = e.env.warnings.All()
	e.env.report(Finished{Report: r})
	return r
}

// Count returns the number of tasks with an outcome.
func (r *Report) Count(o Outcome) int {
	n := 0
	for _, res := range r.Results {
		if res.Outcome == o {
			n++
		}
	}
	return n
}

// Stored reports whether the run added anything to the cache.
func (r *Report) Stored() bool {
	return slices.ContainsFunc(r.Results, func(res *Result) bool { return res.Stored })
}

// Idle reports whether nothing was executed, restored or refused.
func (r *Report) Idle() bool {
	return len(r.Installs) == 0 && !slices.ContainsFunc(r.Results, func(res *Result) bool {
		return !res.Started.IsZero() || res.Outcome != CacheHit
	})
}

// Step is one step of the critical path: a task or an install.
type Step struct {
	Result  *Result
	Install *Install // nil for a task
}

// ID returns the id of the task, or the name of the install.
func (s Step) ID() string {
	if s.Install != nil {
		return s.Install.ID()
	}
	return s.Result.Task.ID()
}

// CriticalPath returns the chain of tasks and installs, each waiting for the one before, that took
// longest: no number of workers makes the run shorter. Tasks for which nothing was done are left out.
func (r *Report) CriticalPath() []Step {
	if r.Plan.Graph == nil || len(r.Results) == 0 {
		return nil
	}
	tasks := len(r.Results)
	took := func(i int) int64 {
		if i >= tasks {
			return int64(r.Installs[i-tasks].Duration)
		}
		return int64(r.Results[i].Duration)
	}
	var path []Step
	for _, i := range r.waits().Heaviest(took) {
		switch {
		case took(i) <= 0:
		case i >= tasks:
			path = append(path, Step{Install: r.Installs[i-tasks]})
		default:
			path = append(path, Step{Result: r.Results[i]})
		}
	}
	return path
}

// waits returns the graph of tasks and, after them, of installs. An install waits for the
// dependencies of the task that needed it first, and all tasks that need the install wait for it.
func (r *Report) waits() *dag.Graph {
	if len(r.Installs) == 0 {
		return r.Plan.Graph
	}
	tasks := len(r.Results)
	g := dag.New(tasks + len(r.Installs))
	for i := range r.Results {
		for _, next := range r.Plan.Graph.After(i) {
			g.AddEdge(i, next)
		}
	}
	for k, install := range r.Installs {
		for i, res := range r.Results {
			if res.Install != install {
				continue
			}
			g.AddEdge(tasks+k, i)
			if i == install.first {
				for _, before := range r.Plan.Graph.Before(i) {
					g.AddEdge(before, tasks+k)
				}
			}
		}
	}
	return g
}
