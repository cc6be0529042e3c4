package plugin

import (
	"context"

	"github.com/bentobuild/bento/adapters"
)

// execKey is the key of an *adapters.ExecOutput in the context of a call.
type execKey struct{}

func withExec(ctx context.Context, said *adapters.ExecOutput) context.Context {
	return context.WithValue(ctx, execKey{}, said)
}

// ExecOutput returns what the command of Manifest().Exec printed. bento runs it for
// ToolchainFingerprint and ResolvedToolchain, whose ctx has it; any other ctx has the zero value. An
// adapter that asks its tool so starts no process, and works as an executable and as a module.
func ExecOutput(ctx context.Context) adapters.ExecOutput {
	said, _ := ctx.Value(execKey{}).(*adapters.ExecOutput)
	if said == nil {
		return adapters.ExecOutput{}
	}
	return *said
}
