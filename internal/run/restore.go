package run

import (
	"context"
	"errors"
	"path"
	"slices"
	"time"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/cache/outputs"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/run/evaluate"
	"github.com/bentobuild/bento/internal/run/lastrun"
	"github.com/bentobuild/bento/internal/run/record"
)

// restore brings the outputs of a hit into place. It runs beside the engine.
func (e *engine) restore(ctx context.Context, ev *evaluate.Result, last *lastrun.Run) (apply func()) {
	t := ev.Task
	want := ev.Record.Outputs
	r := &Result{Task: t, Outcome: CacheHit, Key: ev.Key, record: ev.Record, Started: time.Now()}
	e.recorder.Restoring(t, want)
	stats, err := e.restorer.Restore(want, outputs.Options{
		Stale:    e.stalePaths(t, slices.Concat(last.Outputs, last.Left), want),
		Current:  e.Current,
		Restored: e.Note,
	})
	r.Duration = time.Since(r.Started)
	return func() {
		if err != nil {
			if stats.Written > 0 {
				e.Memory().Leave(lastrun.ID(t), record.Paths(want))
			}
			if !errors.Is(err, cache.ErrMiss) { // else it was pruned meanwhile, or is damaged, which was said
				e.env.warn("restore_failed", "the cached result of "+t.ID()+" cannot be used, so it runs: "+err.Error(), "")
			}
			e.executeInstalled(ctx, ev)
			return
		}
		e.UpToDate(t, want)
		e.Memory().Keep(t, &lastrun.Run{
			Key: ev.Key, Duration: max(last.Duration, ev.Record.Duration),
			Outputs: record.Paths(want), ByProducts: last.ByProducts, Found: last.Found,
		})
		e.end(r)
	}
}

// stalePaths lists what of had is not in want, still an output of t, and not a
// source.
func (e *engine) stalePaths(t *plan.Task, had []string, want []cache.Output) []string {
	keep := make(map[string]bool, len(want))
	for _, o := range want {
		keep[o.Path] = true
		for dir := path.Dir(o.Path); dir != "." && !keep[dir]; dir = path.Dir(dir) {
			keep[dir] = true
		}
	}
	had = slices.DeleteFunc(had, func(p string) bool { return keep[p] || e.tree.Tracked(p) })
	if len(had) == 0 {
		return nil
	}
	set, err := record.OutputSet(t)
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(had, func(p string) bool { return !set.Match(p) })
}
