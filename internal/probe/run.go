package probe

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/proc"
)

// Work is one command that changes files: an install, or an addition of packages.
type Work struct {
	Argv  []string // the first is absolute, or a name on the PATH of Env
	Dir   string   // absolute
	Env   adapters.Environ
	Shown string // the command as shown to users; "" for Argv
	// Start starts the process and waits for its end; nil means the proc.Runner of the context.
	Start func(context.Context, proc.Spec) (proc.Result, error)
}

// Run runs a tool for its effects and passes its output to log. leave is the permission of the
// request. It returns an *adapters.InstallError when the tool fails, and an *adapters.MissingTool
// without a hint when it is not on PATH.
func Run(ctx context.Context, leave adapters.Leave, w Work, log adapters.LogFunc) error {
	if !leave.Given() {
		return errors.New("a question must not run a command")
	}
	if w.Shown == "" {
		w.Shown = strings.Join(w.Argv, " ")
	}
	if !strings.Contains(w.Argv[0], "/") {
		path, err := w.Env.LookPath(w.Argv[0])
		if err != nil {
			return err
		}
		w.Argv = slices.Concat([]string{path}, w.Argv[1:])
	}
	if w.Start == nil {
		w.Start = proc.RunnerOf(ctx)
	}
	t := NewTranscript(log)
	res, err := w.Start(ctx, proc.Spec{Argv: w.Argv, Dir: w.Dir, Env: w.Env, Stdout: t.Stdout(), Stderr: t.Stderr()})
	t.Close()
	switch {
	case err != nil:
		return err
	case res.Canceled || ctx.Err() != nil:
		return context.Cause(ctx)
	case res.ExitCode != 0:
		return &adapters.InstallError{Command: w.Shown, ExitStatus: res.ExitCode, Detail: t.Errors()}
	}
	return nil
}
