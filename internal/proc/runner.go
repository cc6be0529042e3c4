package proc

import "context"

// Runner runs a child to its end, as Run does.
type Runner func(context.Context, Spec) (Result, error)

type runnerKey struct{}

// WithRunner returns a context with which RunnerOf returns run.
func WithRunner(ctx context.Context, run Runner) context.Context {
	return context.WithValue(ctx, runnerKey{}, run)
}

// RunnerOf returns the Runner for the commands of an operation, Run by default.
func RunnerOf(ctx context.Context) Runner {
	if run, ok := ctx.Value(runnerKey{}).(Runner); ok {
		return run
	}
	return Run
}
