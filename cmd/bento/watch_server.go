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
	began   atomic.Pointer[beginning] // nil: it still waits for what it depends on
	stop    context.CancelFunc
	done    chan struct{}
	restart atomic.Bool // another one follows
	failed  atomic.Bool // by itself
}

// beginning is what a server was started with.
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

// serverLines reports the run of one server. The end of one that another follows is no news.
type serverLines struct {
	*terminal.Lines
	id    string
	of    *server
	begun func() // the server began though its key was unknown
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

// restartServer ends a server that is started again, and says what has changed.
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

// maxPaths bounds how many changed paths are kept to name one.
const maxPaths = 256

// changed notes the changes of a batch.
func (w *watching) changed(b watch.Batch) {
	if len(b.Paths) > 0 {
		w.telling.companions.WatchChanged(b.Paths)
	}
	w.moved = append(w.moved, b.Replaced...)
	w.paths = append(w.paths, b.Paths[:min(len(b.Paths), maxPaths-len(w.paths))]...)
}

// isDue reports whether a server is to be started, or started again. One that still waits for what
// is not made yet reads its inputs later: it is compared when it begins.
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

// begun has the next round compare a server with what it began with: a change may have been seen
// before.
func (w *watching) begun() {
	w.serverBegan.Store(true)
	w.keys.rouse()
}

// result returns what is known of a task of the plan.
func (l *look) result(id string) *key.Evaluation {
	return l.results[slices.IndexFunc(l.results, func(r *key.Evaluation) bool { return r.Task.ID() == id })]
}

// inputsAmong returns those of paths that are inputs of a task.
func inputsAmong(r *key.Evaluation, paths []string) []string {
	inputs := make(map[string]bool, len(r.Inputs))
	for _, f := range r.Inputs {
		inputs[f.Path] = true
	}
	return slices.DeleteFunc(slices.Clone(paths), func(p string) bool { return !inputs[p] })
}

// whatChanged names what a server is restarted for: its inputs that are others than when it was
// started, else changed files of dishes that it depends on.
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
