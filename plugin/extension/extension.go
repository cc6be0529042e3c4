// Package extension is for authors of extensions: long-lived companions of a run, which hear
// its events, add a command or draw a screen. The same program serves two contracts: SEP v1
// when SEP_ENDPOINT is set, else ainb v2 on its standard streams.
//
//	type greeter struct{}
//
//	func (greeter) Info() extension.Info {
//		return extension.Info{Name: "greeter", ID: "acme.greeter", Version: "1.0.0"}
//	}
//	func (greeter) Event(ctx context.Context, c *extension.Client, e extension.Event) error { … }
//
//	func main() { extension.Main(greeter{}) }
//
// The methods of an extension never run at the same time. Messages are read, health checks
// answered and calls of a Client settled while one runs. A panic of a method is an error of
// that message alone.
package extension

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"reflect"
	"syscall"

	"github.com/bentobuild/bento/plugin/signature"
)

// Extension has the methods of every extension. The interfaces Starter, Commander, Screen, Keyer and
// Mouser are optional.
type Extension interface {
	Info() Info // constant
	// Event handles one event. Its error is logged.
	Event(ctx context.Context, c *Client, e Event) error
}

// Info identifies an extension. It must agree with its manifests.
type Info struct {
	Name    string // [plugin] name of manifest.toml, for ainb
	ID      string // id of manifest.json, for SEP
	Version string
}

// Event is one thing that happened in a run, or an update of a topic.
type Event struct {
	Topic   string
	Data    json.RawMessage // of bento's topics: JSON; another publisher on ainb may send any bytes
	Dropped int             // events lost before this one, since this side or bento had too many
}

// Starter is called once, before every other handler. An error ends the extension.
type Starter interface {
	Start(ctx context.Context, c *Client) error
}

// Commander serves `bento x NAMESPACE ARGS…`. With SEP it is called for a panel's action,
// with the panel's id as namespace and the action as the only argument, and its output goes
// to the log.
type Commander interface {
	Command(ctx context.Context, c *Client, command Command) (Output, error)
}

// Command is one call of a command.
type Command struct {
	Namespace string
	Args      []string
}

// Output is the result of a command.
type Output struct {
	Stdout, Stderr []byte
	ExitCode       int32
}

// Screen draws the extension's screen (ainb). The same state must draw the same cells.
type Screen interface {
	Render(ctx context.Context, c *Client, b *Buffer) error
}

// Keyer receives the keys of a screen (ainb).
type Keyer interface {
	Key(ctx context.Context, c *Client, key Key) error
}

// Mouser receives the mouse of a screen (ainb).
type Mouser interface {
	Mouse(ctx context.Context, c *Client, mouse Mouse) error
}

// Options are the streams of Serve, for tests. The default of each field is that of the process.
type Options struct {
	In     io.ReadCloser
	Out    io.WriteCloser
	Stderr io.Writer
	SEP    bool   // serve SEP v1 rather than ainb v2 on In and Out
	Token  string // of sep.hello; "": none is sent
}

// Main serves x until bento shuts it down or closes the connection. The main function of an
// extension needs no more. Main exits with status 1 for an error.
//
// Standard output belongs to the protocol, so Main sets os.Stdout to standard error for all
// other writers.
func Main(x Extension) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	out := os.Stdout
	os.Stdout = os.Stderr
	o, err := fromEnviron(os.Stdin, out)
	if err == nil {
		err = Serve(ctx, x, o)
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintf(os.Stderr, "%s: %v\n", os.Args[0], err)
		os.Exit(1)
	}
}

// Serve serves x as Main does. It returns nil after a shutdown or at the end of In. Before that it handles
// the events that have arrived, for at most 2 s. Then it cancels the context of the running handler, and
// does not wait for a handler that ignores it. It closes In and Out.
//
// An extension is refused if the signature of an optional method differs from that of its interface.
func Serve(ctx context.Context, x Extension, o *Options) error {
	err := signature.Check(x, "extension.Main",
		reflect.TypeFor[Starter](), reflect.TypeFor[Commander](), reflect.TypeFor[Screen](),
		reflect.TypeFor[Keyer](), reflect.TypeFor[Mouser]())
	if err != nil {
		return err
	}
	if o == nil {
		o = &Options{}
	}
	s := newServer(x, o)
	return s.serve(ctx)
}
