package plugin

import (
	"context"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/plugin/methods"
)

// ExecOutput returns the output of the command of Manifest().Exec. bento runs it for ToolchainFingerprint
// and ResolvedToolchain, whose ctx has it. With any other ctx the result is the zero value. An adapter
// that gets its version this way starts no process, and works as an executable and as a module.
func ExecOutput(ctx context.Context) adapters.ExecOutput {
	return methods.ExecOutput(ctx)
}
