package probe

import (
	"context"
	"errors"
	"slices"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/proc"
)

// AskNamed starts a command that the repository names, which is only allowed in a run: the tool at
// path with args, in the root of the file system. A shim of a version manager starts the version of
// dir; a shim whose version depends on more than that starts in dir, as in a task. Errors are as of
// Ask.
func (a *Asker) AskNamed(ctx context.Context, leave adapters.Leave, at At, args ...string) (Output, error) {
	if !leave.Given() {
		return Output{}, errors.New("a question must not run a command")
	}
	tool, err := a.Resolve(at.Path, at.Dir)
	var atRun *adapters.KnownAtRun
	dir := neutral
	if errors.As(err, &atRun) {
		tool, dir = Tool{Path: at.Path}, at.Dir
	} else if err != nil {
		return Output{}, err
	}
	spec := proc.Spec{Argv: slices.Concat([]string{tool.Path}, args), Dir: dir, Env: tool.apply(a.env.With(stays())), Timeout: timeout}
	if dir != neutral {
		return output(ctx, spec, at)
	}
	return a.memory.ask(ctx, a.from, spec, at)
}
