package run

import (
	"context"
	"time"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/diagnostics/parse"
	"github.com/bentobuild/bento/internal/proc"
	"github.com/bentobuild/bento/internal/run/command"
	"github.com/bentobuild/bento/internal/run/rerun"
	"github.com/bentobuild/bento/internal/run/tasklog"
)

// parsedOutput bounds what of each stream is looked at, in bytes: the end of it. The
// parsers take one byte less, from the start of a line where something is missing.
const parsedOutput = 4<<20 + 1

// parseTimeout bounds a plugin's parser, and its wait for other calls to the plugin.
const parseTimeout = time.Minute

// printed is what a command printed, as far as it is looked at, and how it ended.
type printed struct {
	stdout, stderr *proc.Tail
	exit           int
}

func newPrinted() *printed {
	return &printed{stdout: proc.NewTail(parsedOutput), stderr: proc.NewTail(parsedOutput)}
}

func (p *printed) add(s tasklog.Stream, text []byte) {
	if s == tasklog.Stderr {
		p.stderr.Write(text)
	} else {
		p.stdout.Write(text)
	}
}

// diagnose turns what the task has printed into diagnostics, as the hook of its
// adapter says. Where that says nothing of a failure, what the hook's own command
// prints is looked at too. A parser that fails costs the diagnostics and nothing else.
func (x *execution) diagnose(ctx context.Context) {
	t, r := x.ev.Task, x.result
	if t.Hook == nil || r.Attempts == 0 {
		return
	}
	said := newPrinted()
	said.exit = r.ExitCode
	if r.ReplayLog(nil, said.add) != nil {
		return
	}
	found, err := x.parse(ctx, said)
	if len(found) == 0 && r.Outcome == Failed && r.Reason == "exit_status" && r.Signal == "" {
		if again, ok := x.printAgain(ctx); ok {
			found, err = x.parse(ctx, again)
		}
	}
	r.Diagnostics = found
	if err != nil && r.Outcome == Failed && ctx.Err() == nil {
		x.env.warn("diagnostics_failed", "no diagnostics of "+t.ID()+": "+err.Error(), "")
	}
}

// printAgain runs the command of the hook, if there is one, and gives what it
// printed. It runs as the task did, not much longer, and nobody sees it.
func (x *execution) printAgain(ctx context.Context) (*printed, bool) {
	t, ok := rerun.Of(x.ev.Task)
	if !ok {
		return nil, false
	}
	spec, err := x.env.commands().Spec(t)
	if err != nil {
		return nil, false
	}
	said := newPrinted()
	spec.Stdout, spec.Stderr = said.stdout, said.stderr
	spec.Grace = x.opts.Grace
	if spec.Timeout == 0 {
		spec.Timeout = x.result.Duration + time.Minute
	}
	res, err := proc.Run(ctx, spec)
	said.exit = res.ExitCode
	return said, err == nil && !res.Canceled
}

// parse has the parser of the hook read what was printed. A plugin is not asked what
// nothing means.
func (x *execution) parse(ctx context.Context, said *printed) ([]diagnostics.Diagnostic, error) {
	t := x.ev.Task
	stdout, stderr := said.stdout.Bytes(), said.stderr.Bytes()
	if t.Hook.Parser != adapters.ParserPlugin {
		o := parse.Output{Stdout: stdout, Stderr: stderr, Dir: command.Dir(t), Root: x.env.Root}
		if t.Hook.InDish {
			o.Dir = t.Dish.Dir
		}
		return parse.Parse(t.Hook.Parser, o)
	}
	if len(stdout)+len(stderr) == 0 {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, parseTimeout)
	defer cancel()
	return t.Dish.Adapter.ParseDiagnostics(ctx, adapters.ParseRequest{
		TaskName: t.Name, Stdout: string(stdout), Stderr: string(stderr), ExitStatus: said.exit,
		DishDir: t.Dish.Dir, WorkspaceRoot: x.env.Root,
	})
}
