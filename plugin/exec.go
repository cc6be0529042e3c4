package plugin

import (
	"context"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/plugin/methods"
)

// ExecOutput returns what the command of Manifest().Exec printed. bento runs it for
// ToolchainFingerprint and ResolvedToolchain, whose ctx has it; any other ctx has the zero value. An
// adapter that asks its tool so starts no process, and works as an executable and as a module.
func ExecOutput(ctx context.Context) adapters.ExecOutput {
	return methods.ExecOutput(ctx)
}
