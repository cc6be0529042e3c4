package wire

import (
	"encoding/json"
	"fmt"
	"io"
	"sync"
)

// ClientOptions are the options of a Client. The reading goroutine calls its functions, one
// at a time, before it reads the next message. They may be nil. They must neither call
// Close nor wait for an answer.
type ClientOptions struct {
	Limits
	// Notify receives the plugin's notifications in order. Those that were sent before a response arrive
	// before it.
	Notify func(method string, params json.RawMessage)
	// Odd receives why a message was ignored.
	Odd func(what string)
	// Trace receives each body, sent or received, on several goroutines at once.
	Trace func(sent bool, body []byte)
}

// Client is the host's end of a connection with a plugin. It is not the client of jrpc2,
// which loses a response that the end of the stream follows at once, does not keep the
// order of notifications, and starts a goroutine for each message.
//
//   - A request gets one valid response. The client ignores responses to dropped
//     requests, second responses, and JSON that is no message of the protocol.
//     An invalid response makes its request fail (*BadAnswer).
//   - An error without an id, by which JSON-RPC reports an unreadable request,
//     fails every request in flight.
//   - Requests of the plugin are refused with "method not found", as many as it
//     reads.
//
// Methods are safe for concurrent use.
type Client struct {
	conn     *Conn
	o        ClientOptions
	calls    inFlight
	refusals chan []byte
	done     chan struct{} // closed when reading has ended
	err      error         // why; set before done is closed
	workers  sync.WaitGroup
}

// maxRefusals is how many refusals wait for the plugin to read them.
const maxRefusals = 16

// NewClient makes the host's end over the plugin's stdout and stdin, and begins to
// read.
func NewClient(stdout io.ReadCloser, stdin io.WriteCloser, o ClientOptions) *Client {
	o.Limits = o.Limits.withDefaults()
	if o.Trace == nil {
		o.Trace = func(bool, []byte) {}
	}
	c := &Client{
		conn:     NewConn(stdout, stdin, o.Limits),
		o:        o,
		calls:    inFlight{waiting: make(map[int64]chan Answer)},
		refusals: make(chan []byte, maxRefusals),
		done:     make(chan struct{}),
	}
	c.workers.Go(c.read)
	// The reader must not write: a plugin that writes before it reads would block both
	// sides.
	c.workers.Go(c.refuse)
	return c
}

// read handles messages until the stream ends.
func (c *Client) read() {
	defer close(c.done)
	for c.err == nil {
		c.err = c.next()
	}
}

// Close closes both streams and waits for the reader.
func (c *Client) Close() error {
	c.conn.Close()
	<-c.done
	c.workers.Wait()
	return nil
}

// Done returns a channel that is closed when the stream has ended. Answers that arrived before are
// delivered.
func (c *Client) Done() <-chan struct{} { return c.done }

// Err returns, after Done, why the stream has ended, as Conn.Recv does.
func (c *Client) Err() error { return c.err }

// Unfinished describes the received part of an incomplete message, or returns "".
func (c *Client) Unfinished() string { return c.conn.Unfinished() }

// Call is one request.
type Call struct {
	c      *Client
	id     int64
	body   message
	answer chan Answer
}

// Answer is the answer to a request: a result, or an error that is an *RPCError or a
// *BadAnswer.
type Answer struct {
	Result json.RawMessage
	Err    error
}

// BadAnswer is the error of a request whose response is invalid.
type BadAnswer struct{ Why string }

func (e *BadAnswer) Error() string { return e.Why }

// Prepare makes a request, without params if they are nil. The error wraps ErrTooLarge if
// it is over Limits.Sent. Ids are 1, 2, 3 and so on.
func (c *Client) Prepare(method string, params any) (*Call, error) {
	id, answer := c.calls.add()
	body, err := encode(&id, method, params)
	if n := len(body.text()); err == nil && n > c.o.Sent {
		err = fmt.Errorf("%w: %s: %d bytes, at most %d", ErrTooLarge, method, n, c.o.Sent)
	}
	if err != nil {
		c.calls.settle(id, Answer{})
		return nil, err
	}
	return &Call{c: c, id: id, body: body, answer: answer}, nil
}

// ID returns the id of the request.
func (c *Call) ID() int64 { return c.id }

// Send writes the request, and returns when it is written or the connection closed.
func (c *Call) Send() error {
	body := c.body
	c.body = message{}
	c.c.o.Trace(true, body.text())
	return c.c.conn.sendFrame(body.frame())
}

// Answered returns a channel with the one answer.
func (c *Call) Answered() <-chan Answer { return c.answer }

// Drop stops waiting for the answer.
func (c *Call) Drop() { c.c.calls.settle(c.id, Answer{}) }

// Notify writes a notification, and returns when it is written or the connection closed.
func (c *Client) Notify(method string, params any) error {
	body, err := encode(nil, method, params)
	if err != nil {
		return err
	}
	c.o.Trace(true, body.text())
	return c.conn.sendFrame(body.frame())
}
