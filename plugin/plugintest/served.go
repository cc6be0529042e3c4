package plugintest

import (
	"context"
	"io"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/plugin"
	"github.com/bentobuild/bento/plugin/host"
)

// Served launches an adapter of this process as a plugin.
type Served struct{ Adapter adapters.Adapter }

// Launch implements host.Launcher.
func (s Served) Launch(ctx context.Context, _ io.Writer) (*host.Stream, error) {
	in, stdin := io.Pipe()
	stdout, out := io.Pipe()
	ctx, end := context.WithCancel(context.WithoutCancel(ctx)) // it lives until End, as a process does
	exited := make(chan struct{})
	go func() {
		defer close(exited)
		_ = plugin.Serve(ctx, s.Adapter, &plugin.Options{In: in, Out: out}) // its error is that of the stream
		out.Close()
	}()
	stop := func() {
		end()
		in.Close()
		out.Close()
	}
	return &host.Stream{
		Stdin: stdin, Stdout: stdout, Exited: exited, End: func(bool) { stop() },
		Wait: func() string {
			<-exited
			end()
			return "exit status 0"
		},
	}, nil
}
