package main

import (
	"context"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/report"
	"github.com/bentobuild/bento/internal/report/terminal"
	"github.com/bentobuild/bento/internal/run"
)

// server is a persistent task that is running.
type server struct {
	key  cache.Key
	stop context.CancelFunc
	done chan struct{}
}

// startServer starts a persistent task after its dependencies.
func (w *watching) startServer(ctx context.Context, id string, key cache.Key) {
	ctx, stop := context.WithCancel(ctx)
	s := &server{key: key, stop: stop, done: make(chan struct{})}
	w.servers[id] = s
	go func() {
		defer close(s.done)
		if err := w.serve(ctx, id); err != nil && ctx.Err() == nil {
			report.WriteError(w.s.err, w.s.style, err)
		}
	}()
}

// serve runs one persistent task until it ends, and prints its output as it comes.
func (w *watching) serve(ctx context.Context, id string) error {
	lines := w.s.lines()
	lines.Mode = terminal.Stream
	tell := run.Reporter(&serial{Reporter: lines})
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
	_, err = run.Run(ctx, ws.env, p, run.Options{Workers: w.s.workers(ws.Config), Output: true})
	return err
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
