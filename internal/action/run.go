package action

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/config"
	"github.com/bentobuild/bento/internal/proc"
)

// errNotReady is the error of a server that exits with status 0 before it is ready.
var errNotReady = errors.New("it ended before it was ready")

// RunServer runs a process to its end, and calls isReady when it is ready as want says. It ends a
// process that does not become ready in time, and returns the reason in late.
func RunServer(ctx context.Context, spec proc.Spec, want config.Ready, isReady func()) (res proc.Result, late, err error) {
	probe := newReadyProbe(want, func() (proc.Spec, error) { return probing(spec, want.Cmd) })
	spec.Stdout, spec.Stderr = probe.lines.Noting(spec.Stdout), probe.lines.Noting(spec.Stderr)
	ctx, end := context.WithCancel(ctx)
	defer end()
	waiting, stop := context.WithCancel(ctx)
	done, ready := make(chan struct{}), false
	go func() {
		defer close(done)
		switch perr := probe.Wait(waiting); {
		case perr == nil:
			ready = true
			isReady()
		case waiting.Err() == nil:
			late = perr
			end()
		}
	}()
	res, err = proc.Run(ctx, spec)
	stop()
	<-done
	if late == nil && err == nil && !ready && res.ExitCode == 0 && !res.Canceled && !res.TimedOut {
		late = errNotReady
	}
	return res, late, err
}

// probing returns the process of ready.cmd. It has the directory and the environment of the task, and
// its output is discarded.
func probing(task proc.Spec, cmd string) (proc.Spec, error) {
	sh, err := adapters.Environ(task.Env).LookPath("sh")
	if err != nil {
		return proc.Spec{}, fmt.Errorf("no shell: %w", err)
	}
	return proc.Spec{Argv: []string{sh, "-c", cmd}, Dir: task.Dir, Env: task.Env, Stdout: io.Discard, Stderr: io.Discard}, nil
}
