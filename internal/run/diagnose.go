package run

import (
	"context"
	"time"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/diagnostics/parse"
	"github.com/bentobuild/bento/internal/proc"
	"github.com/bentobuild/bento/internal/run/command"
	"github.com/bentobuild/bento/internal/run/tasklog"
)

// parsedOutput bounds what of each stream is looked at, in bytes: the end of it.
const parsedOutput = 4 << 20

// parseTimeout bounds a plugin's parser.
const parseTimeout = 30 * time.Second

// diagnose turns what the task has printed into diagnostics, as the hook of its
// adapter says. Nothing is run again for it. A parser that fails costs the
// diagnostics and nothing else.
func (x *execution) diagnose(ctx context.Context) {
	t, r := x.ev.Task, x.result
	if t.Hook == nil || r.Attempts == 0 {
		return
	}
	stdout, stderr := proc.NewTail(parsedOutput), proc.NewTail(parsedOutput)
	if err := r.ReplayLog(nil, func(s tasklog.Stream, p []byte) {
		if s == tasklog.Stderr {
			stderr.Write(p)
		} else {
			stdout.Write(p)
		}
	}); err != nil {
		return
	}
	var err error
	if t.Hook.Parser == adapters.ParserPlugin {
		r.Diagnostics, err = x.askParser(ctx, stdout.Bytes(), stderr.Bytes())
	} else {
		o := parse.Output{Stdout: stdout.Bytes(), Stderr: stderr.Bytes(), Dir: command.Dir(t), Root: x.env.Root}
		if t.Hook.InDish {
			o.Dir = t.Dish.Dir
		}
		r.Diagnostics, err = parse.Parse(t.Hook.Parser, o)
	}
	if err != nil {
		x.env.warn("diagnostics_failed", "no diagnostics of "+t.ID()+": "+err.Error(), "")
	}
}

// askParser asks the adapter's own parser, of failures only.
func (x *execution) askParser(ctx context.Context, stdout, stderr []byte) ([]diagnostics.Diagnostic, error) {
	if x.result.Outcome != Failed {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, parseTimeout)
	defer cancel()
	t := x.ev.Task
	return t.Dish.Adapter.ParseDiagnostics(ctx, adapters.ParseRequest{
		TaskName: t.Name, Stdout: string(stdout), Stderr: string(stderr), ExitStatus: x.result.ExitCode,
		DishDir: t.Dish.Dir, WorkspaceRoot: x.env.Root,
	})
}
