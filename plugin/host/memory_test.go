package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/plugin/wire"
)

// forks is the thread that forks all children: it lives as long as this process.
var forks = goleak.IgnoreTopFunction("github.com/bentobuild/bento/internal/proc.(*family).adopt.func1")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m, forks) }

// memory launches functions in place of processes: the n-th launch runs the n-th function, later ones run
// the last.
type memory struct {
	mu       sync.Mutex
	run      []func(c *child)
	launched int
	alive    sync.WaitGroup
}

// child is the plugin's side of a launch.
type child struct {
	*wire.Conn
	stderr       io.Writer
	stdout       io.Writer // for raw bytes
	term, killed chan struct{}
	status       string
}

func (m *memory) Launch(_ context.Context, stderr io.Writer) (*Stream, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.run) == 0 {
		return nil, errors.New("no such program")
	}
	run := m.run[min(m.launched, len(m.run)-1)]
	m.launched++
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	c := &child{
		Conn: wire.NewConn(inR, outW, wire.Limits{}), stderr: stderr, stdout: outW,
		term: make(chan struct{}), killed: make(chan struct{}), status: "exit status 0",
	}
	exited := make(chan struct{})
	m.alive.Go(func() {
		defer close(exited)
		run(c)
		c.Close()
	})
	var term, kill sync.Once
	return &Stream{
		Stdin: inW, Stdout: outR, Exited: exited,
		End: func(hard bool) {
			if !hard {
				term.Do(func() { close(c.term) })
				return
			}
			kill.Do(func() { close(c.killed); c.Close() })
		},
		Wait: func() string { <-exited; return c.status },
	}, nil
}

// request is what a child reads.
type request struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

// read returns the next request; its Method is "" at the end of the stream.
func (c *child) read() request {
	var r request
	if body, err := c.Recv(); err == nil {
		_ = json.Unmarshal(body, &r)
	}
	return r
}

func (c *child) reply(r request, result string) {
	_ = c.Send(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":%s}`, r.ID, result))
}

func (c *child) log(message string) {
	_ = c.Send(fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"notifications/log","params":{"level":"info","message":%q}}`, message))
}

// hang waits until the child is killed.
func (c *child) hang() { <-c.killed }

// serve answers every request with its method's name, until shutdown or the end.
func (c *child) serve() {
	for {
		switch r := c.read(); r.Method {
		case "":
			return
		case "shutdown":
			c.reply(r, "null")
			return
		default:
			c.reply(r, fmt.Sprintf("%q", r.Method))
		}
	}
}

// greet answers the handshake.
func (c *child) greet() { c.reply(c.read(), `"hello"`) }

// greeted returns a child that runs run after the handshake.
func greeted(run func(c *child)) func(c *child) {
	return func(c *child) {
		c.greet()
		run(c)
	}
}

// options returns the options of a plugin that runs the given children in turn.
func options(run ...func(c *child)) (Options, *memory) {
	m := &memory{run: run}
	return Options{
		ID: "zig", Path: "/bin/bento-adapter-zig", Launcher: m, Shutdown: "shutdown",
		Hello: func(_ context.Context, ask AskFunc) (Terms, error) {
			_, err := ask("initialize", nil)
			return Terms{}, err
		},
	}, m
}

// start starts a plugin. The end of the test closes it.
func start(t *testing.T, o Options) *Plugin {
	t.Helper()
	p, err := Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// codeOf returns the code of a failure, and its message.
func codeOf(err error) (adapters.Code, string) {
	var f *adapters.Failure
	if errors.As(err, &f) {
		return f.Code, f.Message
	}
	return "", fmt.Sprint(err)
}
