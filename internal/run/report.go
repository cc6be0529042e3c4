package run

import (
	"slices"
	"time"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/plan"
)

// Report is the whole of a run.
type Report struct {
	Plan        *plan.Plan
	Results     []*Result // by plan.Task.Index
	Installs    []*Install
	Warnings    []diagnostics.Diagnostic
	Started     time.Time
	Evaluated   time.Duration // since Started: until it was known what is a hit
	Duration    time.Duration
	Interrupted bool
}

// Count returns how many tasks ended so.
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

// CriticalPath returns the chain of tasks, each waiting for the one before, that took
// longest: no number of workers makes the run shorter. Tasks for which nothing was
// done are left out.
func (r *Report) CriticalPath() []*Result {
	g := r.Plan.Graph
	if g == nil || len(r.Results) == 0 {
		return nil
	}
	took := func(i int) int64 { return int64(r.Results[i].Duration) }
	var path []*Result
	for _, i := range g.Heaviest(took) {
		if took(i) > 0 {
			path = append(path, r.Results[i])
		}
	}
	return path
}
