package sep

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/bentobuild/bento/plugin/host"
	"github.com/bentobuild/bento/plugin/sep/manifest"
	"github.com/bentobuild/bento/plugin/wire"
)

// memory launches functions in place of processes: the n-th launch runs the n-th function, later ones run
// the last.
type memory struct {
	mu       sync.Mutex
	run      []func(c *child)
	launched int
	alive    sync.WaitGroup
}

// child is the extension's side of a launch.
type child struct {
	*wire.Conn
	stdout       io.Writer // for raw bytes
	stderr       io.Writer
	term, killed chan struct{}
	status       string
	id           int
}

func (m *memory) Launch(_ context.Context, stderr io.Writer) (*host.Stream, error) {
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
		Conn:   wire.NewConn(inR, outW, wire.Limits{Body: 8 << 20}),
		stdout: outW, stderr: stderr, term: make(chan struct{}), killed: make(chan struct{}), status: "exit status 0",
	}
	exited := make(chan struct{})
	m.alive.Go(func() {
		defer close(exited)
		run(c)
		c.Close()
	})
	var term, kill sync.Once
	return &host.Stream{
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

// message is one message that a child reads.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *wire.RPCError  `json:"error"`
}

// read returns the next message; its Method is "" at the end of the stream.
func (c *child) read() message {
	var m message
	if body, err := c.Recv(); err == nil {
		_ = json.Unmarshal(body, &m)
	}
	return m
}

func (c *child) write(format string, args ...any) { _ = c.Send(fmt.Appendf(nil, format, args...)) }

func (c *child) reply(m message, result string) {
	c.write(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
}

const welcome = `{"extensionId":"acme.lint","version":"0.2.0","apiVersion":"1.0.0"}`

// greet answers sep.initialize.
func (c *child) greet() message {
	m := c.read()
	c.reply(m, welcome)
	return m
}

// healthy answers a health check and reports whether m is one.
func (c *child) healthy(m message) bool {
	if m.Method != "sep.health" {
		return false
	}
	c.reply(m, `{"seq":`+seq(m)+`,"status":"ok"}`)
	return true
}

func seq(m message) string {
	var p struct{ Seq json.RawMessage }
	_ = json.Unmarshal(m.Params, &p)
	return string(p.Seq)
}

// serve answers the handshake and all requests until it is shut down.
func (c *child) serve() {
	c.greet()
	c.loop(func(message) {})
}

// loop answers health checks and the shutdown, and calls f for other messages.
func (c *child) loop(f func(message)) {
	for {
		switch m := c.read(); {
		case c.healthy(m):
		case m.Method == "sep.shutdown":
			c.reply(m, "{}")
			return
		case m.Method == "" && m.ID == nil:
			return
		default:
			f(m)
		}
	}
}

// ask calls a method of the host and returns its answer as one line. Meanwhile it answers health checks.
func (c *child) ask(method, params string) string {
	c.id++
	c.write(`{"jsonrpc":"2.0","id":"q%d","method":%q,"params":%s}`, c.id, method, params)
	return c.answer()
}

// answer returns the next answer of the host.
func (c *child) answer() string {
	for {
		m := c.read()
		switch {
		case c.healthy(m):
		case m.Error != nil:
			return fmt.Sprintf("%d %s %s", m.Error.Code, m.Error.Data, m.Error.Message)
		case m.Method != "" && m.Method != "sep.event":
			return "unexpected " + m.Method
		case m.Method == "":
			return string(m.Result)
		}
	}
}

func (c *child) hang() { <-c.killed }

const minimal = `{"schemaVersion":"1.0.0","id":"acme.lint","name":"Lint","version":"0.2.0","apiVersion":"1.0.0","trustLevel":"first_party",
"entrypoint":{"command":"./lint","args":[]},"permissions":["messages.read","messages.send","contacts.read","events.subscribe","tools.register","notifications.create"],
"events":{"subscribe":["run.started","run.finished"]},
"health":{"startupTimeoutMs":5000,"heartbeatIntervalMs":2000,"unhealthyAfterMissedHeartbeats":2},
"limits":{"maxRequestBytes":65536,"maxRequestsPerSecond":20,"maxConcurrentRequests":4}}`

// parsed returns the minimal manifest after replacements: old, new, old, new.
func parsed(t *testing.T, replace ...string) *manifest.Manifest {
	t.Helper()
	m, err := manifest.Parse("manifest.json", []byte(strings.NewReplacer(replace...).Replace(minimal)))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// begun starts an extension that runs the given children. The end of the test closes it.
func begun(t *testing.T, o Options, run ...func(c *child)) (*Extension, *memory) {
	t.Helper()
	m := &memory{run: run}
	o.Launcher = m
	if o.Manifest == nil {
		o.Manifest = parsed(t)
	}
	x, err := Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.Close(); m.alive.Wait() })
	return x, m
}

// bubble runs a test in synthetic time.
func bubble(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, test)
}

// state checks the state after everything has settled.
func state(t *testing.T, x *Extension, want State, reason string) {
	t.Helper()
	synctest.Wait()
	s := x.Status()
	if s.State != want || s.Reason != reason {
		t.Errorf("got %s, reason %q (%v), want %s, %q", s.State, s.Reason, s.Failure, want, reason)
	}
}

// launches returns the number of launches.
func (m *memory) launches() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.launched
}
