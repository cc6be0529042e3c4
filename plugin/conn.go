package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"sync"
	"time"

	"github.com/creachadair/jrpc2"
	"github.com/creachadair/jrpc2/channel"

	"github.com/bentobuild/bento/plugin/wire"
)

// conn is what the server reads from and writes to. It handles itself what must not wait
// for running calls: cancel and shutdown. It also answers queries itself: bento asks a few
// short questions about every directory, and handing one to another goroutine costs several
// times as much as the answer. If a query takes long, another goroutine reads on.
type conn struct {
	*wire.Conn
	s     *server
	ctx   context.Context // of the queries
	alone bool            // calls run one at a time
	rest  chan []byte     // messages for the server
	end   chan error      // the error that ends the stream; holds one
	shut  chan struct{}   // closed by Close
	once  sync.Once
	turn  turn

	mu      sync.Mutex
	cancels map[string]context.CancelFunc // of the running queries, by id
}

var _ channel.Channel = (*conn)(nil)

func newConn(ctx context.Context, stream *wire.Conn, s *server, alone bool) *conn {
	c := &conn{
		Conn: stream, s: s, ctx: ctx, alone: alone,
		rest: make(chan []byte), end: make(chan error, 1), shut: make(chan struct{}),
		cancels: make(map[string]context.CancelFunc),
	}
	c.turn.lost = func() { go c.read() }
	go c.read()
	return c
}

// Close ends Recv, and the readers as soon as possible.
func (c *conn) Close() error {
	c.once.Do(func() { close(c.shut) })
	return c.Conn.Close()
}

// Recv returns the next message for the server.
func (c *conn) Recv() ([]byte, error) {
	select {
	case body := <-c.rest:
		return body, nil
	case err := <-c.end:
		return nil, err
	case <-c.shut:
		return nil, channel.ErrClosed
	}
}

// read reads until the stream ends, or until another goroutine has taken over because a
// query took long. There is always one reader.
func (c *conn) read() {
	for {
		body, err := c.Conn.Recv()
		if err != nil {
			c.end <- err
			return
		}
		m, err := wire.ParseMessage(body, maxDepth)
		if err == nil && c.isQuery(&m) && c.s.calls.TryLock() {
			if kept := c.query(&m); !kept {
				return
			}
			continue
		}
		if body, err = c.next(body, &m, err); err != nil {
			c.end <- err
			return
		}
		if body == nil {
			continue
		}
		select {
		case c.rest <- body:
		case <-c.shut:
			c.end <- channel.ErrClosed
			return
		}
	}
}

// maxDepth is more than the nesting that encoding/json accepts.
const maxDepth = 10_000

// next handles a message that is not a query, and returns what remains for the server.
func (c *conn) next(body []byte, m *wire.Message, malformed error) ([]byte, error) {
	switch {
	case malformed != nil: // the server reports that
	case m.Kind == wire.Notification && m.Method == wire.NotifyCancel:
		c.cancel(m.Params)
		return nil, nil
	case m.Kind == wire.Request && m.Method == wire.MethodShutdown:
		return nil, c.shutdown(m.ID)
	case m.Kind == wire.Request || m.Kind == wire.Notification:
		return plain(m), nil
	}
	return body, nil
}

// plain returns a message without the members that JSON-RPC does not define, which the
// server would refuse.
func plain(m *wire.Message) []byte {
	body := append([]byte(`{"jsonrpc":"2.0","method":`), quoted(m.Method)...)
	if m.ID != nil {
		body = append(append(body, `,"id":`...), m.ID...)
	}
	if m.Params != nil {
		body = append(append(body, `,"params":`...), m.Params...)
	}
	return append(body, '}')
}

func quoted(text string) []byte {
	data, err := json.Marshal(text)
	if err != nil {
		panic(err) // a string never fails
	}
	return data
}

func (c *conn) cancel(params json.RawMessage) {
	var p wire.Cancel
	if wire.Decode(params, &p) != nil {
		return
	}
	id := strconv.FormatInt(p.ID, 10)
	c.mu.Lock()
	stop := c.cancels[id]
	c.mu.Unlock()
	if stop != nil {
		stop()
	} else {
		c.s.rpc.CancelRequest(id)
	}
}

// shutdown ends all calls, answers, and ends the stream.
func (c *conn) shutdown(id json.RawMessage) error {
	c.s.stop()
	c.s.waitCalls()
	if err := c.respond(id, "result", json.RawMessage("null")); err != nil {
		return err
	}
	return io.EOF
}

func (c *conn) respond(id json.RawMessage, member string, value json.RawMessage) error {
	body := append([]byte(`{"jsonrpc":"2.0","id":`), id...)
	body = append(append(body, `,"`...), member...)
	return c.Send(append(append(append(body, `":`...), value...), '}'))
}

// isQuery reports whether a message is one of the questions about every directory.
func (c *conn) isQuery(m *wire.Message) bool {
	if m.Kind != wire.Request || !c.alone {
		return false
	}
	switch m.Method {
	case wire.MethodDetect, wire.MethodToolchain, wire.MethodTasks, wire.MethodLinks, wire.MethodInstallScope:
		return c.s.known[m.Method] != nil
	}
	return false
}

// query answers a request and unlocks the calls, which the caller has locked. It reports
// whether its goroutine is still the reader.
func (c *conn) query(m *wire.Message) (kept bool) {
	ctx, stop := context.WithCancel(c.ctx)
	id := string(m.ID)
	c.mu.Lock()
	c.cancels[id] = stop
	c.mu.Unlock()
	ticket := c.turn.begin()
	member, value := c.answer(ctx, m)
	c.s.calls.Unlock()
	c.mu.Lock()
	delete(c.cancels, id)
	c.mu.Unlock()
	stop()
	_ = c.respond(m.ID, member, value) // the host may be gone
	return c.turn.end(ticket)
}

// answer returns the member of a response with the result of a request.
func (c *conn) answer(ctx context.Context, m *wire.Message) (member string, value json.RawMessage) {
	request := &jrpc2.ParsedRequest{ID: string(m.ID), Method: m.Method, Params: m.Params}
	result, err := c.s.known[m.Method](ctx, request.ToRequest())
	if err == nil {
		value, err = json.Marshal(result)
	}
	if err != nil {
		return "error", failure(err)
	}
	return "result", value
}

// failure returns the error of a response as JSON.
func failure(err error) json.RawMessage {
	var rpc *jrpc2.Error
	if !errors.As(err, &rpc) {
		rpc = jrpc2.Errorf(jrpc2.ErrorCode(err), "%v", err)
	}
	text, err := json.Marshal(rpc)
	if err != nil { // the adapter's data is not valid JSON
		return failure(jrpc2.Errorf(wire.CodeInternal, "%v", err))
	}
	return text
}

// patience is how long a query may take, or up to twice of it, before another goroutine
// reads.
const patience = 10 * time.Millisecond

// turn is the right to read while a query is answered. A timer for each query would cost as
// much as the query, so one timer checks periodically.
type turn struct {
	lost func() // called when the running query has lost it

	mu      sync.Mutex
	timer   *time.Timer
	armed   bool
	last    uint64 // the last query that began
	running uint64 // the running query with the turn, 0 for none
	seen    uint64 // the query that ran when the timer was set
}

func (t *turn) begin() (ticket uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last++
	t.running = t.last
	if !t.armed {
		t.arm()
	}
	return t.last
}

// end reports whether the query still had the turn.
func (t *turn) end(ticket uint64) (kept bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.running != ticket {
		return false
	}
	t.running = 0
	return true
}

func (t *turn) arm() {
	t.armed, t.seen = true, t.running
	if t.timer == nil {
		t.timer = time.AfterFunc(patience, t.look)
	} else {
		t.timer.Reset(patience)
	}
}

func (t *turn) look() {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.running == 0:
		t.armed = false
	case t.running == t.seen:
		t.running, t.armed = 0, false
		t.lost()
	default:
		t.arm()
	}
}
