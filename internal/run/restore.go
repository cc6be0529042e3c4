package run

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"time"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/cache/outputs"
	"github.com/bentobuild/bento/internal/key"
	"github.com/bentobuild/bento/internal/record"
	"github.com/bentobuild/bento/internal/tree"
)

// restoreOutputs restores the outputs of ev.Record. others reports whether another task of the dish
// has made a path. It may run in parallel with the engine.
func (e *engine) restoreOutputs(ev *key.Evaluation, last *key.LastRun, others func(path string) bool) (outputs.Stats, error) {
	t, want := ev.Task, ev.Record.Outputs
	defer e.recorder.Writing(t)()
	e.recorder.Restoring(t, want)
	place := record.Removable{Recorder: e.recorder, Task: t, Others: others, Had: slices.Concat(last.Outputs, last.Left)}
	o := outputs.Options{
		Stale:    place.Stale(want),
		Yields:   place.Yields,
		Fixed:    e.tree.Tracked,
		Stop:     e.tree.Stop(),
		Current:  func(path string) (cache.Digest, bool) { return key.Current(e.tree, path) },
		Restored: e.restored,
	}
	stats, err := e.restorer.Restore(ev.Record.With(e.env.Store), want, o)
	if errors.Is(err, fs.ErrPermission) && e.unlock(slices.Concat(record.Paths(want), place.Had)) {
		stats, err = e.restorer.Restore(ev.Record.With(e.env.Store), want, o)
	}
	return stats, err
}

// restored adds a file to the index of digests that was just written, or read and verified. It is safe for
// concurrent use.
func (e *engine) restored(path string, d cache.Digest) {
	if entry, err := e.tree.Stat(path); err == nil && entry.Kind == tree.File {
		e.tree.Index().Note(entry, d)
	}
}

// unlock sets all rights of the owner on the directories among outputs, which a task has made read-only, and reports
// whether one had not all. Restore sets their modes again.
func (e *engine) unlock(paths []string) (changed bool) {
	had, seen := make(map[string]bool, len(paths)), make(map[string]bool)
	for _, p := range paths {
		had[p] = true
	}
	slices.Sort(paths) // outer directories first
	for _, p := range paths {
		if dir := path.Dir(p); had[dir] && !seen[dir] {
			seen[dir] = true
			changed = outputs.Unlock(e.env.Root, p, func(dir string) bool { return had[dir] }) || changed
		}
	}
	return changed
}

// restore restores the outputs of a hit. It may run in parallel with the engine; apply may not.
func (e *engine) restore(ctx context.Context, ev *key.Evaluation, last *key.LastRun, others func(path string) bool) (apply func()) {
	want := ev.Record.Outputs
	r := &Result{Task: ev.Task, Outcome: CacheHit, Key: ev.Key, record: ev.Record, Started: time.Now()}
	stats, err := e.restoreOutputs(ev, last, others)
	r.Duration = time.Since(r.Started)
	return func() {
		if err != nil {
			if stats.Written > 0 {
				e.keys.History().Leave(ev.Task.Place(), record.Paths(want))
			}
			e.notRestored(ctx, ev, err)
			return
		}
		if stats.Written > 0 || key.MakesOutside(ev.Task) {
			e.keys.NoteWritten(ctx, key.Written{Restored: ev.Task})
		}
		e.keys.UpToDate(ev, want)
		e.keepRestored(ev, last, want)
		e.end(r)
	}
}

// notRestored executes the task of a hit whose outputs could not be restored, unless it was interrupted.
func (e *engine) notRestored(ctx context.Context, ev *key.Evaluation, err error) {
	t, hint := ev.Task, ""
	e.keys.Load(ctx, ev, true)
	var refused *cache.RefusedError
	if errors.As(err, &refused) {
		ev.InTheWay, hint = refused.Error(), "move what is in the way to another place, or remove it, and run again"
	}
	if errors.Is(err, context.Canceled) {
		e.end(interrupted(ev))
		return
	}
	if !errors.Is(err, cache.ErrMiss) { // else it was pruned meanwhile, or is damaged, which was reported
		e.env.warn("restore_failed", "the cached result of "+t.ID()+" cannot be used, so it runs: "+err.Error(), hint)
	}
	e.node(t).to(begun)
	e.executeInstalled(ctx, ev)
}

// keepRestored makes the restored result the last good run of its task. A restore does not change what the history
// knows of the last execution.
func (e *engine) keepRestored(ev *key.Evaluation, last *key.LastRun, want []cache.Output) {
	e.keys.History().Keep(ev.Task, &key.LastRun{
		Key: ev.Key, Duration: max(last.Duration, ev.Record.Duration),
		Outputs: record.Paths(want), ByProducts: last.ByProducts, Found: foundBeside(last.Found, want),
		Undeclared: last.Undeclared, Warned: last.Warned, Ran: last.Ran, At: last.At, Sources: last.Sources,
		Discovered: ev.Discovered, Observed: last.Observed, Basis: last.Basis, Unobservable: last.Unobservable, Unseen: last.Unseen, Reads: last.Reads,
	})
}

// foundBeside returns the found files of a task without the restored ones: the task made those, so
// they are not its inputs.
func foundBeside(found []string, restored []cache.Output) []string {
	made := make(map[string]bool, len(restored))
	for i := range restored {
		made[restored[i].Path] = true
	}
	return slices.DeleteFunc(slices.Clone(found), func(p string) bool { return made[p] })
}
