package extension

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"

	"github.com/bentobuild/bento/plugin/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// probe is an extension with the methods of a test.
type probe struct {
	event   func(ctx context.Context, c *Client, e Event) error
	command func(ctx context.Context, c *Client, command Command) (Output, error)
}

func (*probe) Info() Info { return Info{Name: "probe", ID: "acme.probe", Version: "1.2.3"} }

func (p *probe) Event(ctx context.Context, c *Client, e Event) error { return p.event(ctx, c, e) }

func (p *probe) Command(ctx context.Context, c *Client, command Command) (Output, error) {
	return p.command(ctx, c, command)
}

func (p *probe) Render(_ context.Context, _ *Client, b *Buffer) error {
	b.Text(0, 0, "e\u0301x", Style{})
	return nil
}

// host is the host's side of a served extension.
type host struct {
	t      *testing.T
	conn   *wire.Conn
	in     io.Writer // raw, to the extension
	served chan error
	stderr *bytes.Buffer // read only after served
}

func serve(t *testing.T, x Extension, sep bool) *host {
	t.Helper()
	in, toIn := io.Pipe()
	fromOut, out := io.Pipe()
	h := &host{t: t, conn: wire.NewConn(fromOut, toIn, wire.Limits{}), in: toIn, served: make(chan error, 1), stderr: new(bytes.Buffer)}
	go func() {
		h.served <- Serve(context.Background(), x, &Options{In: in, Out: out, Stderr: h.stderr, SEP: sep})
	}()
	t.Cleanup(func() { h.conn.Close() })
	return h
}

func (h *host) send(format string, args ...any) {
	h.t.Helper()
	if err := h.conn.Send(fmt.Appendf(nil, format, args...)); err != nil {
		h.t.Fatal(err)
	}
}

// want reads the next message, which must be text.
func (h *host) want(text string) {
	h.t.Helper()
	body, err := h.conn.Recv()
	if err != nil || string(body) != text {
		h.t.Fatalf("got %s, %v\nwant %s", body, err, text)
	}
}

// left waits for the end of Serve and checks its error; "" is none.
func (h *host) left(want string) {
	h.t.Helper()
	err := <-h.served
	if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
		h.t.Fatalf("Serve: got %v, want %q\n%s", err, want, h.stderr)
	}
}

const (
	initAinb = `{"jsonrpc":"2.0","id":1,"method":"plugin/init","params":{"manifest_path":"/p/manifest.toml","granted_capabilities":["event_bus"],"abi_version":2,"config":{"n":7}}}`
	doneAinb = `{"jsonrpc":"2.0","id":1,"result":{"name":"probe","version":"1.2.3"}}`
	initSEP  = `{"jsonrpc":"2.0","id":1,"method":"sep.initialize","params":{"apiVersion":"1.0.0","extensionId":"acme.probe","grantedPermissions":["notifications.create"]}}`
	doneSEP  = `{"jsonrpc":"2.0","id":1,"result":{"apiVersion":"1.0.0","extensionId":"acme.probe","version":"1.2.3"}}`
)

func TestAinb(t *testing.T) {
	x := &probe{command: func(ctx context.Context, c *Client, command Command) (Output, error) {
		var config struct{ N int }
		if err := c.Config(&config); err != nil {
			return Output{}, err
		}
		return Output{Stdout: fmt.Append(nil, config.N, c.Granted("event_bus"), command.Args), ExitCode: 3}, nil
	}}
	h := serve(t, x, false)
	h.send(`{"jsonrpc":"2.0","id":0,"method":"plugin/render","params":{}}`)
	h.want(`{"jsonrpc":"2.0","id":0,"error":{"code":-32010,"message":"plugin/render before the first message"}}`)
	h.send(`{"jsonrpc":"2.0","id":"a","method":"plugin/init","params":{"abi_version":3}}`)
	h.want(`{"jsonrpc":"2.0","id":"a","error":{"code":-32003,"message":"abi_version: required 2"}}`)
	h.send(initAinb)
	h.want(doneAinb)
	h.send(`{not JSON`)
	h.send(`{"jsonrpc":"2.0","id":2,"method":"plugin/cli_dispatch","params":{"namespace":"n","argv":["a"]}}`)
	h.want(`{"jsonrpc":"2.0","id":2,"result":{"exit_code":3,"stderr":"","stdout":"NyB0cnVlIFthXQ=="}}`)
	h.send(`{"jsonrpc":"2.0","id":3,"method":"plugin/render","params":{"viewport":{"width":2,"height":1},"generation":1}}`)
	h.want(`{"jsonrpc":"2.0","id":3,"result":{"buffer":{"cells":[[{"x":0,"y":0},{"symbol":"e` + "\u0301" + `","modifier":0}],[{"x":1,"y":0},{"symbol":"x","modifier":0}]],"height":1,"width":2},"captures_text":false,"redraw":false}}`)
	h.send(`{"jsonrpc":"2.0","id":4,"method":"plugin/nope"}`)
	h.want(`{"jsonrpc":"2.0","id":4,"error":{"code":-32601,"message":"method not found: plugin/nope"}}`)
	h.send(`{"jsonrpc":"2.0","id":5,"method":"plugin/shutdown","params":{}}`)
	h.want(`{"jsonrpc":"2.0","id":5,"result":{}}`)
	h.left("")
	if !strings.Contains(h.stderr.String(), "ignored a message") {
		t.Errorf("log: got %q, want the message that is not JSON", h.stderr)
	}
}

// TestReverseCalls sends messages while a handler runs, and answers its call last.
func TestReverseCalls(t *testing.T) {
	x := &probe{event: func(ctx context.Context, c *Client, e Event) error {
		return c.Toast(ctx, "info", string(e.Data))
	}}
	h := serve(t, x, true)
	h.send(initSEP)
	h.want(doneSEP)
	for _, text := range []string{"1", "2"} {
		h.send(`{"jsonrpc":"2.0","method":"sep.event","params":{"event":"task.finished","seq":%s,"data":%[1]s}}`, text)
	}
	h.want(`{"jsonrpc":"2.0","id":1,"method":"host.notifications.toast","params":{"level":"info","message":"1"}}`)
	h.send(`{"jsonrpc":"2.0","id":"h","method":"sep.health","params":{"seq":9}}`)
	h.want(`{"jsonrpc":"2.0","id":"h","result":{"seq":9,"status":"ok"}}`)
	h.send(`{"jsonrpc":"2.0","id":2,"method":"sep.shutdown","params":{"reason":"host_exit","graceMs":3000}}`)
	h.send(`{"jsonrpc":"2.0","id":1,"error":{"code":-32013,"message":"slow","data":{"reason":"rate_limited"}}}`)
	h.want(`{"jsonrpc":"2.0","id":2,"method":"host.notifications.toast","params":{"level":"info","message":"2"}}`)
	h.send(`{"jsonrpc":"2.0","id":2,"result":{}}`)
	h.want(`{"jsonrpc":"2.0","id":2,"result":{}}`)
	h.left("")
	if got := h.stderr.String(); got != "probe: sep.event: slow (rate_limited, code -32013)\n" {
		t.Errorf("log: got %q", got)
	}
}

func TestPanic(t *testing.T) {
	calls := 0
	x := &probe{command: func(context.Context, *Client, Command) (Output, error) {
		if calls++; calls == 1 {
			panic("oops")
		}
		return Output{}, &Error{Code: -32001, Message: "capability denied: network"}
	}}
	h := serve(t, x, false)
	h.send(initAinb)
	h.want(doneAinb)
	h.send(`{"jsonrpc":"2.0","id":2,"method":"plugin/cli_dispatch","params":{"namespace":"n","argv":[]}}`)
	h.want(`{"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"the extension panicked: oops"}}`)
	h.send(`{"jsonrpc":"2.0","id":3,"method":"plugin/cli_dispatch","params":{"namespace":"n","argv":[]}}`)
	h.want(`{"jsonrpc":"2.0","id":3,"error":{"code":-32001,"message":"capability denied: network"}}`)
	h.send(`{"jsonrpc":"2.0","method":"plugin/shutdown"}`)
	h.left("")
}

// TestEnd ends the connection at each place where bento may end it.
func TestEnd(t *testing.T) {
	for _, c := range []struct{ name, raw, want string }{
		{"between frames", "", ""},
		{"inside a header", "Content-Le", "unexpected EOF"},
		{"inside a body", "Content-Length: 10\r\n\r\n{", "unexpected EOF"},
		{"over 16 MiB", "Content-Length: 16777217\r\n\r\n", "at most 16777216"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := serve(t, &probe{}, false)
			if _, err := io.WriteString(h.in, c.raw); err != nil {
				t.Fatal(err)
			}
			h.conn.Close()
			h.left(c.want)
		})
	}
}

// TestLargest sends 16 MiB to a handler.
func TestLargest(t *testing.T) {
	got := 0
	h := serve(t, &probe{event: func(_ context.Context, _ *Client, e Event) error {
		got = len(e.Data)
		return nil
	}}, true)
	h.send(initSEP)
	h.want(doneSEP)
	head, tail := `{"jsonrpc":"2.0","method":"sep.event","params":{"event":"task.output","data":"`, `"}}`
	size := 16<<20 - len(head) - len(tail)
	h.send("%s%s%s", head, strings.Repeat("a", size), tail)
	h.send(`{"jsonrpc":"2.0","id":2,"method":"sep.shutdown"}`)
	h.want(`{"jsonrpc":"2.0","id":2,"result":{}}`)
	h.left("")
	if got != size+2 {
		t.Errorf("got %d bytes, want %d", got, size+2)
	}
}

// TestStuckHandler shuts down while a handler ignores its context.
func TestStuckHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		free, ended := make(chan struct{}), make(chan struct{})
		h := serve(t, &probe{event: func(context.Context, *Client, Event) error {
			<-free
			close(ended)
			return nil
		}}, true)
		h.send(initSEP)
		h.want(doneSEP)
		h.send(`{"jsonrpc":"2.0","method":"sep.event","params":{"event":"run.started"}}`)
		h.send(`{"jsonrpc":"2.0","id":2,"method":"sep.shutdown"}`)
		h.want(`{"jsonrpc":"2.0","id":2,"result":{}}`)
		h.left("")
		close(free)
		<-ended
	})
}

// badCommand has a Command method that bento would never call.
type badCommand struct{}

func (badCommand) Info() Info                                     { return Info{} }
func (badCommand) Event(context.Context, *Client, Event) error    { return nil }
func (badCommand) Command(context.Context, []string) (int, error) { return 0, nil }

func TestSignature(t *testing.T) {
	err := Serve(t.Context(), badCommand{}, nil)
	want := "the method Command of extension.badCommand is Command(context.Context, []string) (int, error), want Command(context.Context, *extension.Client, extension.Command)"
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %q", err, want)
	}
}

// TestQueueFull checks that a full queue drops the oldest events, keeps requests, and counts the dropped
// events.
func TestQueueFull(t *testing.T) {
	q := newQueue()
	q.add(item{size: -1})
	for n := range maxEvents + 5 {
		q.add(item{event: true, size: n})
	}
	q.close()
	if q.add(item{}) {
		t.Error("a closed queue took an item")
	}
	var got [][2]int
	for range 3 {
		i, dropped, _ := q.take(t.Context())
		got = append(got, [2]int{i.size, dropped})
	}
	if want := "[[-1 0] [5 5] [6 0]]"; fmt.Sprint(got) != want {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestBufferClips(t *testing.T) {
	b := &Buffer{Width: 1, Height: 1}
	b.Text(-1, 0, "ab\ncd", Style{})
	data, err := json.Marshal(b)
	if want := `{"cells":[[{"x":0,"y":0},{"symbol":"b","modifier":0}]],"height":1,"width":1}`; err != nil || string(data) != want {
		t.Errorf("got %s, %v, want %s", data, err, want)
	}
}
