package run

import (
	"context"
	"fmt"
	"io"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/proc"
	"github.com/bentobuild/bento/internal/run/ready"
)

// supervise runs a process. Of a persistent task it says when it is ready; one that
// does not become so is ended, and late says why.
func (x *execution) supervise(ctx context.Context, spec proc.Spec) (res proc.Result, late, err error) {
	t := x.ev.Task
	if !t.Persistent {
		res, err = proc.Run(ctx, spec)
		return res, nil, err
	}
	if t.Ready == nil {
		x.isReady()
		res, err = proc.Run(ctx, spec)
		return res, nil, err
	}
	probe, err := ready.New(*t.Ready, func() (proc.Spec, error) { return x.readyCommand(spec) })
	if err != nil {
		return res, nil, err
	}
	spec.Stdout, spec.Stderr = noting{spec.Stdout, probe}, noting{spec.Stderr, probe}
	ctx, end := context.WithCancel(ctx)
	waiting, stop := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		switch perr := probe.Wait(waiting); {
		case perr == nil:
			x.isReady()
		case waiting.Err() == nil:
			late = perr
			end()
		}
	}()
	res, err = proc.Run(ctx, spec)
	stop()
	<-done
	end()
	return res, late, err
}

// readyCommand gives the process of ready.cmd: what the task is run with, and nothing
// of it is kept.
func (x *execution) readyCommand(task proc.Spec) (proc.Spec, error) {
	sh, err := adapters.Environ(task.Env).LookPath("sh")
	if err != nil {
		return proc.Spec{}, fmt.Errorf("no shell: %w", err)
	}
	return proc.Spec{Argv: []string{sh, "-c", x.ev.Task.Ready.Cmd}, Dir: task.Dir, Env: task.Env, Stdout: io.Discard, Stderr: io.Discard}, nil
}

// noting shows a probe what is written.
type noting struct {
	io.Writer
	probe *ready.Probe
}

func (n noting) Write(p []byte) (int, error) {
	n.probe.Note(p)
	return n.Writer.Write(p)
}
