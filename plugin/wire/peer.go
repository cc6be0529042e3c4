package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/creachadair/jrpc2/channel"
)

// PeerOptions are the options of a Peer. The limits are those of its Conn. The reading
// goroutine calls the functions, one at a time and in the order of the messages; Trace is
// called on several goroutines. They may be nil. They must return at once, and must neither
// call Close nor wait for an answer or a write.
type PeerOptions struct {
	// Request receives a request, to be answered at once or later, from any goroutine. Without it the other
	// side is a plugin, which may only answer and notify: its requests are refused, as many as it reads, and
	// more than Limits.Idle messages without a request of this side end the connection.
	Request func(*Incoming)
	Notify  func(method string, params json.RawMessage)
	// Bad receives a body that is not JSON, with a nil m; a body that is not a message of JSON-RPC; and
	// bytes that are no frame, with a nil body and m, which always end the connection. It returns the
	// error to reply with, or nil, and whether the connection ends after the reply: when the other side has
	// closed its stream, or a second later. Without Bad, all but
	// an Invalid message end the connection.
	Bad func(body []byte, m *Message, err error) (reply *RPCError, end bool)
	// Odd receives why a message was ignored.
	Odd func(what string)
	// Trace receives each body, sent or received.
	Trace func(sent bool, body []byte)
	// After is the last id of an earlier connection: the next request has the following one.
	After int64
}

// Peer is one end of a connection on which both sides send requests: JSON-RPC 2.0 without batches. Reading
// never waits for writing, so two peers that both write cannot block each other. Methods are safe for
// concurrent use.
//
// A request gets one valid answer. Answers without a request and second answers are ignored. An error with
// the id null fails every request in flight.
type Peer struct {
	conn    *Conn
	o       PeerOptions
	calls   inFlight
	out     outbox
	reading sync.WaitGroup
	writing sync.WaitGroup
	done    chan struct{} // closed when reading has ended
	err     error         // why; set before done is closed

	// Set by the reader when a bad message ends the connection: by PeerOptions.Bad, after a reply.
	judged, replied bool
}

// Incoming is a request of the other side. Exactly one of its methods must be called, once. They do not
// wait until the answer is written.
type Incoming struct {
	ID     json.RawMessage
	Method string
	Params json.RawMessage

	peer     *Peer
	answered atomic.Bool
}

var errAnswered = errors.New("the request was answered before")

// NewPeer returns a peer that reads from c from now on.
func NewPeer(c *Conn, o PeerOptions) *Peer {
	if o.Trace == nil {
		o.Trace = func(bool, []byte) {}
	}
	if o.Odd == nil {
		o.Odd = func(string) {}
	}
	p := &Peer{conn: c, o: o, done: make(chan struct{})}
	p.calls.waiting, p.calls.last = make(map[int64]chan Answer), o.After
	p.out.more = make(chan struct{}, 1)
	p.writing.Go(p.write) // read may wait for it at once
	p.reading.Go(p.read)
	return p
}

// Done returns a channel that is closed when the stream of the other side has ended, or either side broke
// the protocol. Answers that arrived before are delivered.
func (p *Peer) Done() <-chan struct{} { return p.done }

// Err returns, after Done, why the connection has ended, as Conn.Recv does, or
// ErrSendTimeout.
func (p *Peer) Err() error { return p.err }

// LastID returns the id of the last request, for After.
func (p *Peer) LastID() int64 {
	p.calls.mu.Lock()
	defer p.calls.mu.Unlock()
	return p.calls.last
}

// Unfinished describes the received part of an incomplete message, or returns "".
func (p *Peer) Unfinished() string { return p.conn.Unfinished() }

// Close closes both streams and waits for the goroutines. The error is always nil.
func (p *Peer) Close() error {
	p.conn.Close()
	p.reading.Wait()
	p.writing.Wait()
	return nil
}

// Drain writes the queued messages, then closes both streams. It does not wait for the reader, whose
// stream may not end by being closed.
func (p *Peer) Drain() {
	p.out.close()
	p.writing.Wait()
	p.conn.Close()
}

// Finish sends a last request, whose answer is ignored, and closes the stream to the other side after the
// queued messages. It does not wait for that. The peer still receives messages.
func (p *Peer) Finish(method string, params any) error {
	_, err := p.Ask(method, params) // which is never dropped, so that it is written
	p.Leave()
	return err
}

// Leave closes the stream to the other side after the queued messages, as Finish does.
func (p *Peer) Leave() { p.out.close() }

// Question is a request of this side that waits for its answer.
type Question struct {
	p      *Peer
	id     int64
	sent   *outgoing
	answer chan Answer
}

// Ask sends a request. The caller must call Drop in the end.
func (p *Peer) Ask(method string, params any) (*Question, error) {
	q := &Question{p: p}
	q.id, q.answer = p.calls.add()
	m, err := encode(&q.id, method, params)
	if err == nil {
		q.sent, err = p.send(method, m)
	}
	if err != nil {
		q.Drop()
		return nil, err
	}
	return q, nil
}

// ID returns the id of the request.
func (q *Question) ID() int64 { return q.id }

// Written returns a channel with the error of writing the request, once it is written.
func (q *Question) Written() <-chan error { return q.sent.written }

// Answered returns a channel with the one answer.
func (q *Question) Answered() <-chan Answer { return q.answer }

// Settled reports whether the answer has arrived, or Drop was called. In a function of PeerOptions it is
// true for every message after the answer.
func (q *Question) Settled() bool {
	q.p.calls.mu.Lock()
	defer q.p.calls.mu.Unlock()
	return q.p.calls.waiting[q.id] == nil
}

// Drop stops waiting for the answer. A request that is not written yet is not sent.
func (q *Question) Drop() {
	if q.sent != nil {
		q.sent.dropped.Store(true)
	}
	q.p.calls.settle(q.id, Answer{})
}

// Call asks and waits for the answer, the end of the connection, or ctx. The error is an
// *RPCError or a *BadAnswer of the other side, that of ctx, or that of Err.
func (p *Peer) Call(ctx context.Context, method string, params any) (json.RawMessage, error) {
	q, err := p.Ask(method, params)
	if err != nil {
		return nil, err
	}
	defer q.Drop()
	select {
	case a := <-q.answer:
		return a.Result, a.Err
	case <-p.done:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	select {
	case a := <-q.answer: // it arrived before the end
		return a.Result, a.Err
	default:
		return nil, p.err
	}
}

// Notify writes a notification, and returns when it is written, or the connection has
// ended. Notifications of one goroutine are written in the order of its calls.
func (p *Peer) Notify(method string, params any) error {
	sent, err := p.post(method, params)
	if err != nil {
		return err
	}
	select {
	case err := <-sent.written:
		return err
	case <-p.done:
		return p.err
	}
}

// Post is Notify that does not wait.
func (p *Peer) Post(method string, params any) error {
	_, err := p.post(method, params)
	return err
}

func (p *Peer) post(method string, params any) (*outgoing, error) {
	m, err := encode(nil, method, params)
	if err != nil {
		return nil, err
	}
	return p.send(method, m)
}

// send queues a message whose caller waits.
func (p *Peer) send(method string, m message) (*outgoing, error) {
	if n := len(m.text()); n > p.conn.limits.Sent {
		return nil, fmt.Errorf("%w: %s: %d bytes, at most %d", ErrTooLarge, method, n, p.conn.limits.Sent)
	}
	sent := &outgoing{message: m, written: make(chan error, 1)}
	if !p.out.add(sent) {
		return nil, channel.ErrClosed
	}
	return sent, nil
}

// Reply answers with a result. If the error wraps ErrTooLarge, nothing was sent and the
// request can still be refused.
func (in *Incoming) Reply(result any) error { return in.answer("result", result) }

// Refuse answers with an error.
func (in *Incoming) Refuse(e *RPCError) error { return in.answer("error", e) }

func (in *Incoming) answer(member string, value any) error {
	m, err := encodeAnswer(in.ID, member, value)
	if err != nil {
		return err
	}
	if n := len(m.text()); n > in.peer.conn.limits.Sent {
		return fmt.Errorf("%w: %d bytes, at most %d", ErrTooLarge, n, in.peer.conn.limits.Sent)
	}
	if in.answered.Swap(true) {
		return errAnswered
	}
	return in.peer.answer(m)
}

// answer queues an answer. Too many that wait end the connection, except refusals of a plugin's requests, which
// are dropped.
func (p *Peer) answer(m message) error {
	if p.o.Request == nil && p.out.waiting() >= maxRefusals {
		return nil
	}
	if p.out.add(&outgoing{message: m}) {
		return nil
	}
	if p.out.overflowed() {
		p.conn.Close()
	}
	return channel.ErrClosed
}
