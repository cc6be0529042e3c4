package main

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/key"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/report"
	"github.com/bentobuild/bento/internal/report/terminal"
	"github.com/bentobuild/bento/internal/run"
	"github.com/bentobuild/bento/internal/watch"
)

// server is a persistent task that is running.
type server struct {
	key     cache.Key
	stop    context.CancelFunc
	done    chan struct{}
	restart atomic.Bool // another one follows
}

// startServer starts a persistent task after its dependencies.
func (w *watching) startServer(ctx context.Context, id string, key cache.Key) {
	ctx, stop := context.WithCancel(ctx)
	s := &server{key: key, stop: stop, done: make(chan struct{})}
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
	of *server
}

func (l serverLines) Report(ev run.Event) {
	if end, ok := ev.(run.TaskFinished); !ok || !end.Result.Stopped || !l.of.restart.Load() {
		l.Lines.Report(ev)
	}
}

// serve runs one persistent task until it ends, and prints its output as it comes.
func (w *watching) serve(ctx context.Context, id string, s *server) error {
	lines := w.s.lines()
	lines.Brief = true
	tell := run.Reporter(&serial{Reporter: serverLines{lines, s}})
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
	_, err = run.Run(ctx, ws.env, p, run.Options{Workers: w.s.workers(ws.Config), Output: lines.Live()})
	return err
}

// restartServer ends a server that is started again, and says what has changed.
func (w *watching) restartServer(id, why string) {
	s := w.servers[id]
	if s == nil {
		return
	}
	s.restart.Store(true)
	w.stopServer(id)
	w.s.lines().Restart(id, why)
}

// maxPaths bounds how many changed paths are kept to name one.
const maxPaths = 256

// changed notes the changes of a batch.
func (w *watching) changed(b watch.Batch) {
	w.moved = append(w.moved, b.Replaced...)
	w.paths = append(w.paths, b.Paths[:min(len(b.Paths), maxPaths-len(w.paths))]...)
}

// isDue reports whether a server is to be started, or started again. The key of one that waits for
// what is not made yet is known only later: then it counts as that of the start, unless an input
// has changed since.
func (w *watching) isDue(l *look, id string, paths []string) bool {
	s, now := w.servers[id], l.result(id)
	switch {
	case s == nil || !now.Known:
		return true
	case s.key == cache.Key{} && len(inputsAmong(now, paths)) == 0:
		s.key = now.Key
	}
	return s.key != now.Key
}

// result returns what is known of a task of the plan.
func (l *look) result(id string) *key.Result {
	return l.results[slices.IndexFunc(l.results, func(r *key.Result) bool { return r.Task.ID() == id })]
}

// inputsAmong returns those of paths that are inputs of a task.
func inputsAmong(r *key.Result, paths []string) []string {
	inputs := make(map[string]bool, len(r.Entries))
	for _, e := range r.Entries {
		inputs[e.Path] = true
	}
	return slices.DeleteFunc(slices.Clone(paths), func(p string) bool { return !inputs[p] })
}

// whatChanged names what a server is restarted for: an input, else a file of its dish, which may be
// gone, else any, as of a dish that it depends on.
func whatChanged(r *key.Result, paths []string) string {
	mine := inputsAmong(r, paths)
	if len(mine) == 0 {
		mine = slices.DeleteFunc(slices.Clone(paths), func(p string) bool { return !key.Inside(p, r.Task.Dish.Path) })
	}
	if len(mine) == 0 {
		mine = slices.Clone(paths)
	}
	slices.Sort(mine)
	switch mine = slices.Compact(mine); len(mine) {
	case 0:
		return "its inputs changed"
	case 1:
		return mine[0] + " changed"
	}
	return fmt.Sprintf("%s and %d more changed", mine[0], len(mine)-1)
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
