// Package plugin is for authors of bento adapters: it serves an adapters.Adapter
// as a plugin, an executable named bento-adapter-<id> that speaks the bento
// adapter protocol v1 over its standard streams.
//
//	type zig struct{ plugin.Defaults }
//
//	func (zig) Manifest() *adapters.Manifest { … }
//	func (zig) Detect(ctx context.Context, dir string) (bool, error) { … }
//
//	func main() { plugin.Main(zig{}) }
//
// The capabilities of the manifest say which methods bento asks at all; when it
// names none of the contract's four, all four. An adapter that also is an
// adapters.TaskLister, Linker, Scoper or Adder has these capabilities by that.
package plugin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
)

// Options are where Serve reads and writes.
type Options struct {
	In  io.Reader // requests; nil: standard input
	Out io.Writer // responses and notifications; nil: standard output
}

// Main serves a on the standard streams until bento asks it to shut down or is
// gone, and is all that the main function of a plugin needs. It exits with status
// 1 if the stream breaks.
//
// Standard output belongs to the protocol, so Main turns os.Stdout into standard
// error for everything else that writes there.
func Main(a adapters.Adapter) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	out := os.Stdout
	os.Stdout = os.Stderr
	err := Serve(ctx, a, &Options{Out: out})
	if err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintf(os.Stderr, "%s: %v\n", a.Manifest().AdapterID, err)
		os.Exit(1)
	}
}

// Serve serves a until it is asked to shut down or In ends, which is nil, or ctx is
// done, which is its error. Calls still running are cancelled and waited for. In
// and Out are closed if they are closers. After ctx is done a Read of In may still
// be waiting.
//
// Manifest().Parallel calls run at once, one when it is zero.
func Serve(ctx context.Context, a adapters.Adapter, o *Options) error {
	if o == nil {
		o = &Options{}
	}
	in, out := o.In, o.Out
	if in == nil {
		in = os.Stdin
	}
	if out == nil {
		out = os.Stdout
	}
	return newServer(a).serve(ctx, in, out)
}

// Defaults is embedded in an adapter to answer what it has nothing to say about.
type Defaults struct{}

// RequiredToolchain answers that the project pins nothing.
func (Defaults) RequiredToolchain(context.Context, string) (*adapters.Toolchain, error) {
	return nil, nil
}

// ToolchainFingerprint answers that there is nothing to tell.
func (Defaults) ToolchainFingerprint(context.Context, string) (string, error) { return "", nil }

// Install installs nothing.
func (Defaults) Install(context.Context, adapters.InstallRequest, adapters.LogFunc) error {
	return nil
}

// ParseDiagnostics finds nothing.
func (Defaults) ParseDiagnostics(context.Context, adapters.ParseRequest) ([]diagnostics.Diagnostic, error) {
	return nil, nil
}
