// Package plugin is for authors of bento adapters: it serves an adapters.Adapter as a
// plugin, an executable named bento-adapter-<id> that speaks the bento adapter protocol v1
// over its standard streams.
//
//	type zig struct{ plugin.Defaults }
//
//	func (zig) Manifest() *adapters.Manifest { … }
//	func (zig) Detect(ctx context.Context, dir string) (bool, error) { … }
//
//	func main() { plugin.Main(zig{}) }
//
// The capabilities of the manifest name the methods that bento calls. A manifest that names
// none of the contract's four has all four. An adapter that implements adapters.TaskLister,
// Linker, Scoper, Adder or ToolchainResolver also has that capability.
//
// An adapter need not start a process: bento runs Manifest().Exec for it (see ExecOutput), and the
// commands of an adapters.InstallPlanner. Such an adapter can also be a WebAssembly module (see
// Export).
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

// Main serves a on the standard streams until bento shuts it down or closes them. The main
// function of a plugin needs no more. Main exits with status 1 if the stream breaks, or if a has an
// optional method with another signature than its interface.
//
// Standard output belongs to the protocol, so Main sets os.Stdout to standard error for all
// other writers.
func Main(a adapters.Adapter) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	out := os.Stdout
	os.Stdout = os.Stderr
	err := checkMethods(a)
	if err == nil {
		err = Serve(ctx, a, &Options{Out: out})
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintf(os.Stderr, "%s: %v\n", a.Manifest().AdapterID, err)
		os.Exit(1)
	}
}

// Serve serves a until bento shuts it down or In ends, and returns nil then, or until ctx
// is done, and returns its error. It cancels running calls and waits for them. It closes In
// and Out if they are closers. After ctx is done a Read of In may still block.
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
	s := &server{
		methods: methodsOf(a), slots: make(chan struct{}, max(1, a.Manifest().Parallel)),
		cancels: make(map[string]context.CancelFunc), leaving: make(chan struct{}),
	}
	return s.serve(ctx, in, out)
}

// Defaults is embedded in an adapter and implements the methods that it leaves out.
type Defaults struct{}

// RequiredToolchain returns no pin.
func (Defaults) RequiredToolchain(context.Context, string) (*adapters.Toolchain, error) {
	return nil, nil
}

// ToolchainFingerprint returns "".
func (Defaults) ToolchainFingerprint(context.Context, string) (string, error) { return "", nil }

// Install installs nothing.
func (Defaults) Install(context.Context, adapters.InstallRequest, adapters.LogFunc) error {
	return nil
}

// ParseDiagnostics returns no diagnostics.
func (Defaults) ParseDiagnostics(context.Context, adapters.ParseRequest) ([]diagnostics.Diagnostic, error) {
	return nil, nil
}
