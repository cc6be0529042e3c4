package watch

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/internal/key"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/run"
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

// hasEnded reports whether a server has ended.
func (s *server) hasEnded() bool {
	select {
	case <-s.done:
		return true
	default:
		return false
	}
}

// startServer starts a persistent task after its dependencies.
func (w *Loop) startServer(ctx context.Context, from *key.Evaluation) {
	id := from.Task.ID()
	ctx, stop := context.WithCancel(ctx)
	s := &server{stop: stop, done: make(chan struct{})}
	if from.Known {
		s.began.Store(&beginning{from.Key, from.Inputs})
	}
	w.servers[id] = s
	go func() {
		defer close(s.done)
		if err := w.o.Serve(ctx, id, func(ev run.Event) bool { return w.see(id, s, ev) }); err != nil && ctx.Err() == nil {
			w.o.Failed(err)
		}
	}()
}

// see notes an event of the run of a server. It returns false for the stop of a server that starts again, which is
// not reported.
func (w *Loop) see(id string, s *server, ev run.Event) (shown bool) {
	switch ev := ev.(type) {
	case run.TaskStarted:
		if ev.Task.ID() != id {
			break
		}
		w.noteServing(ev.Task)
		if s.began.Swap(&beginning{ev.Evaluation.Key, ev.Evaluation.Inputs}) == nil {
			// An earlier round may already have received a change: the next one compares the server with its key
			// at the start.
			w.serverBegan.Store(true)
			w.rouse()
		}
	case run.TaskFinished:
		if ev.Result.Outcome == run.Failed {
			s.failed.Store(true)
			w.noteLatest([]*run.Result{ev.Result})
		}
		return !ev.Result.Stopped || !s.restart.Load()
	}
	return true
}

// restartServer stops a server that will start again, and reports the changed files.
func (w *Loop) restartServer(now *key.Evaluation, paths []string) {
	id := now.Task.ID()
	s := w.servers[id]
	if s == nil {
		return
	}
	s.restart.Store(true)
	w.stopServer(id)
	w.o.Restarting(id, s.whatChanged(now, paths))
}

// isDue reports whether a server must start, or start again. A server that still waits for its dependencies
// reads its inputs later. Until its start, only a change of its inputs makes it due.
func (w *Loop) isDue(l *look, id string, paths []string) bool {
	s, now := w.servers[id], l.result(id)
	if s == nil || !now.Known {
		return true
	}
	if began := s.began.Load(); began != nil {
		return began.key != now.Key
	}
	return len(inputsAmong(now, paths)) > 0
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
			return !isSource(r.Task, p)
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

// isSource reports whether a path is in a dish whose files a task depends on.
func isSource(t *plan.Task, path string) bool {
	for _, d := range t.Sources {
		if key.Inside(path, d.Path) {
			return true
		}
	}
	return false
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

func (w *Loop) stopServer(id string) {
	if s := w.servers[id]; s != nil {
		s.stop()
		<-s.done
		delete(w.servers, id)
	}
}

func (w *Loop) stopServers() {
	for _, s := range w.servers {
		s.stop()
	}
	for id := range w.servers {
		w.stopServer(id)
	}
}
