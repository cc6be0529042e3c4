package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/discovery"
	"github.com/bentobuild/bento/internal/key"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/report"
	"github.com/bentobuild/bento/internal/report/terminal"
	"github.com/bentobuild/bento/internal/run"
	"github.com/bentobuild/bento/internal/watch"
)

// server is a persistent task that is running.
type server struct {
	began   atomic.Pointer[beginning] // nil: it still waits for its dependencies
	stop    context.CancelFunc
	done    chan struct{}
	restart atomic.Bool // bento will start it again
	failed  atomic.Bool // it failed without being stopped
}

// beginning has the key and inputs of a server at its start.
type beginning struct {
	key    cache.Key
	inputs []key.File
}

// startServer starts a persistent task after its dependencies.
func (w *watching) startServer(ctx context.Context, from *key.Evaluation) {
	id := from.Task.ID()
	ctx, stop := context.WithCancel(ctx)
	s := &server{stop: stop, done: make(chan struct{})}
	if from.Known {
		s.began.Store(&beginning{from.Key, from.Inputs})
	}
	w.servers[id] = s
	go func() {
		defer close(s.done)
		if err := w.serve(ctx, id, s); err != nil && ctx.Err() == nil {
			report.WriteError(w.s.err, w.s.style, err)
		}
	}()
}

// serverLines reports the run of one server. It does not report the stop of a server that starts again.
type serverLines struct {
	*terminal.Lines
	id    string
	of    *server
	begun func() // is called when a server without a known key starts
}

func (l serverLines) Report(ev run.Event) {
	if start, ok := ev.(run.TaskStarted); ok && start.Task.ID() == l.id {
		now := &beginning{start.Evaluation.Key, start.Evaluation.Inputs}
		if l.of.began.Swap(now) == nil {
			l.begun()
		}
	}
	end, ended := ev.(run.TaskFinished)
	if ended && end.Result.Outcome == run.Failed {
		l.of.failed.Store(true)
	}
	if !ended || !end.Result.Stopped || !l.of.restart.Load() {
		l.Lines.Report(ev)
	}
}

// serve runs one persistent task until it ends, and prints its output as it comes.
func (w *watching) serve(ctx context.Context, id string, s *server) error {
	lines := w.s.lines()
	lines.Brief = true
	tell := run.Reporter(&serial{Reporter: serverLines{lines, id, s, w.begun}})
	ws, err := w.s.open(ctx, tell)
	if err != nil {
		return err
	}
	defer ws.close()
	lines.Store = ws.env.Store
	p, _, problems, err := w.s.build(ctx, ws, selection{Request: plan.Request{Tasks: []string{id}, IDs: true, Args: w.sel.Args}})
	if err == nil {
		err = diagnostics.AsError(problems)
	}
	if err != nil {
		return err
	}
	_, err = run.Run(ctx, ws.env, p, run.Options{Workers: w.s.workers(ws.Config), Memory: machineMemory, Output: lines.Live()})
	return err
}

// restartServer stops a server that will start again, and prints the changed files.
func (w *watching) restartServer(now *key.Evaluation, paths []string) {
	id := now.Task.ID()
	s := w.servers[id]
	if s == nil {
		return
	}
	s.restart.Store(true)
	w.stopServer(id)
	w.s.lines().Restart(id, s.whatChanged(now, paths))
}

// maxPaths is the maximal number of changed paths that are kept for messages.
const maxPaths = 256

// changed records the changes of a batch.
func (w *watching) changed(b watch.Batch) {
	if len(b.Paths) > 0 {
		w.telling.companions.WatchChanged(b.Paths)
	}
	w.moved = append(w.moved, b.Replaced...)
	w.paths = append(w.paths, b.Paths[:min(len(b.Paths), maxPaths-len(w.paths))]...)
}

// isDue reports whether a server must start, or start again. A server that still waits for its dependencies
// reads its inputs later. Until its start, only a change of its inputs makes it due.
func (w *watching) isDue(l *look, id string, paths []string) bool {
	s, now := w.servers[id], l.result(id)
	if s == nil || !now.Known {
		return true
	}
	if began := s.began.Load(); began != nil {
		return began.key != now.Key
	}
	return len(inputsAmong(now, paths)) > 0
}

// begun makes the next round compare a server with its key at the start: an earlier round may already have
// received the change.
func (w *watching) begun() {
	w.serverBegan.Store(true)
	w.keys.rouse()
}

// result returns the evaluation of a task of the plan.
func (l *look) result(id string) *key.Evaluation {
	return l.results[slices.IndexFunc(l.results, func(r *key.Evaluation) bool { return r.Task.ID() == id })]
}

// inputsAmong returns the paths that are inputs of a task.
func inputsAmong(r *key.Evaluation, paths []string) []string {
	inputs := make(map[string]bool, len(r.Inputs))
	for _, f := range r.Inputs {
		inputs[f.Path] = true
	}
	return slices.DeleteFunc(slices.Clone(paths), func(p string) bool { return !inputs[p] })
}

// whatChanged names the reason for the restart of a server: the inputs that differ from those at its start,
// else changed files of dishes that it depends on.
func (s *server) whatChanged(r *key.Evaluation, paths []string) string {
	changed := inputsAmong(r, paths)
	if began := s.began.Load(); began != nil {
		changed = otherFiles(began.inputs, r.Inputs)
	}
	if len(changed) == 0 {
		changed = slices.DeleteFunc(slices.Clone(paths), func(p string) bool {
			return !slices.ContainsFunc(r.Task.Sources, func(d *discovery.Dish) bool { return key.Inside(p, d.Path) })
		})
	}
	slices.Sort(changed)
	switch changed = slices.Compact(changed); len(changed) {
	case 0:
		return "what it depends on changed"
	case 1:
		return changed[0] + " changed"
	}
	return fmt.Sprintf("%s and %d more changed", changed[0], len(changed)-1)
}

// otherFiles returns the paths of files that are in one list only, or differ.
func otherFiles(before, now []key.File) (paths []string) {
	was := make(map[string]key.File, len(before))
	for _, f := range before {
		was[f.Path] = f
	}
	for _, f := range now {
		if was[f.Path] != f {
			paths = append(paths, f.Path)
		}
		delete(was, f.Path)
	}
	return slices.AppendSeq(paths, maps.Keys(was))
}

func (w *watching) stopServer(id string) {
	if s := w.servers[id]; s != nil {
		s.stop()
		<-s.done
		delete(w.servers, id)
	}
}

func (w *watching) stopServers() {
	for _, s := range w.servers {
		s.stop()
	}
	for id := range w.servers {
		w.stopServer(id)
	}
}
