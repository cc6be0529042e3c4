package action

import (
	"context"
	"errors"

	"github.com/bentobuild/bento/internal/proc"
)

// NotReadyError is the reason why a server was not ready in time.
type NotReadyError struct{ error }

// errNotReady is the reason of a server that exits with status 0 before it is ready.
var errNotReady = errors.New("it ended before it was ready")

// Run executes a command to its end. It calls isReady when a server is ready, as c.Ready says. It ends a
// server that does not become ready in time, and returns a *NotReadyError. Other errors are those of x.
func Run(ctx context.Context, x Executor, c *Command, isReady func()) (proc.Result, error) {
	if ctx.Err() != nil {
		return proc.Result{ExitCode: -1, Canceled: true}, nil
	}
	if c.Ready != nil {
		return runServer(ctx, x, c, isReady)
	}
	e, err := x.Start(ctx, c)
	if err != nil {
		return proc.Result{ExitCode: -1}, err
	}
	return e.Wait()
}

// runServer is Run for a server.
func runServer(ctx context.Context, x Executor, c *Command, isReady func()) (proc.Result, error) {
	probe := &readyProbe{want: c.Ready, executor: x, server: c, lines: NewLines(c.Ready.Log)}
	watched := *c
	watched.Stdout, watched.Stderr = probe.lines.Noting(c.Stdout), probe.lines.Noting(c.Stderr)
	e, err := x.Start(ctx, &watched)
	if err != nil {
		return proc.Result{ExitCode: -1}, err
	}
	waiting, stop := context.WithCancel(ctx)
	done, ready, late := make(chan struct{}), false, error(nil)
	go func() {
		defer close(done)
		switch perr := probe.Wait(waiting); {
		case perr == nil:
			ready = true
			isReady()
		case waiting.Err() == nil:
			late = perr
			e.Cancel()
		}
	}()
	res, err := e.Wait()
	stop()
	<-done
	if late == nil && err == nil && !ready && res.ExitCode == 0 && !res.Canceled && !res.TimedOut {
		late = errNotReady
	}
	if late != nil && ctx.Err() == nil {
		err = &NotReadyError{late}
	}
	return res, err
}
