package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"sync"

	"github.com/creachadair/jrpc2/channel"
)

// HostOptions are the options of a HostConn. Its functions are called on the
// reader's goroutine, before the next message is read, and may be nil.
type HostOptions struct {
	Limits
	// Notify receives the plugin's notifications in their order: all of them that
	// were sent before a response come before the call returns.
	Notify func(method string, params json.RawMessage)
	// Odd is told of each message that was passed over, and why.
	Odd func(what string)
	// Sending is told the id of each request that is about to be written.
	Sending func(id int64)
}

// HostConn is the host's end of a connection with a plugin: a channel for a
// jrpc2.Client that only ever sees one valid response to each of its requests.
//
//   - Responses that nobody waits for, second ones, and what is no message of the
//     protocol are passed over. One that is meant for a request in flight but is
//     not valid makes that request fail.
//   - An error without an id, which is how JSON-RPC says that a request could not
//     be read, fails every request in flight.
//   - Requests are refused with "method not found", as many as the plugin reads.
type HostConn struct {
	conn *Conn
	o    HostOptions

	refusals chan []byte
	closed   chan struct{}
	once     sync.Once
	refuser  sync.WaitGroup

	mu       sync.Mutex
	inFlight map[int64]struct{}
	failed   map[int64]error // of requests that were answered, until TakeError
	idle     int             // messages since the last time that something was asked
}

var _ channel.Channel = (*HostConn)(nil)

// BadAnswer is the error of a request that was answered with something that is no
// valid response.
type BadAnswer struct{ Why string }

func (e *BadAnswer) Error() string { return e.Why }

// maxRefusals bounds the refusals that wait for the plugin to read them.
const maxRefusals = 16

// NewHostConn makes the host's end over the plugin's stdout and stdin.
func NewHostConn(stdout io.ReadCloser, stdin io.WriteCloser, o HostOptions) *HostConn {
	o.Limits = o.Limits.withDefaults()
	h := &HostConn{
		conn:     NewConn(stdout, stdin, o.Limits),
		o:        o,
		refusals: make(chan []byte, maxRefusals),
		closed:   make(chan struct{}),
		inFlight: make(map[int64]struct{}),
		failed:   make(map[int64]error),
	}
	// The reader must not write: a plugin that writes before it reads would wait
	// for us as we wait for it.
	h.refuser.Go(h.refuse)
	return h
}

// Close closes both streams.
func (h *HostConn) Close() error {
	h.once.Do(func() { close(h.closed) })
	err := h.conn.Close()
	h.refuser.Wait()
	return err
}

// Send writes a message of the client.
func (h *HostConn) Send(body []byte) error {
	id, isRequest := sentID(body)
	if !isRequest {
		return h.conn.Send(body)
	}
	h.mu.Lock()
	h.inFlight[id] = struct{}{}
	h.idle = 0
	h.mu.Unlock()
	if h.o.Sending != nil {
		h.o.Sending(id)
	}
	err := h.conn.Send(body)
	if err != nil {
		h.settle(id, nil)
	}
	return err
}

// sentID gives the id of a request as jrpc2 writes one.
func sentID(body []byte) (int64, bool) {
	rest, ok := bytes.CutPrefix(body, []byte(`{"jsonrpc":"2.0","id":`))
	if !ok {
		return 0, false
	}
	digits, _, _ := bytes.Cut(rest, []byte(","))
	id, err := strconv.ParseInt(string(digits), 10, 64)
	return id, err == nil
}

// Recv gives the next valid response to a request in flight.
func (h *HostConn) Recv() ([]byte, error) {
	for {
		body, err := h.conn.Recv()
		if err != nil {
			return nil, err
		}
		m, err := ParseMessage(body, h.o.Depth)
		if err != nil {
			return nil, err
		}
		if err := h.count(); err != nil {
			return nil, err
		}
		if response := h.take(&m); response != nil {
			return response, nil
		}
	}
}

// count bounds what a plugin says while nothing is asked.
func (h *HostConn) count() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.inFlight) > 0 {
		return nil
	}
	if h.idle++; h.idle > h.o.Idle {
		return fmt.Errorf("%w: more than %d messages while nothing was asked", ErrMalformed, h.o.Idle)
	}
	return nil
}

// take deals with one message, and gives what the client has to see of it.
func (h *HostConn) take(m *Message) []byte {
	switch m.Kind {
	case Response:
		return h.respond(m)
	case Notification:
		if h.o.Notify != nil {
			h.o.Notify(m.Method, m.Params)
		}
	case Request:
		h.odd(fmt.Sprintf("a request %.*q: a plugin can only answer and notify", preview, m.Method))
		h.answer(m.ID, &RPCError{Code: CodeMethodNotFound, Message: "bento answers no requests"})
	case Invalid:
		return h.invalid(m)
	}
	return nil
}

func (h *HostConn) respond(m *Message) []byte {
	if isNull(m.ID) && m.Error != nil {
		return h.failAll(m.Error)
	}
	id, ok := m.Number()
	switch {
	case ok && m.Error != nil && h.settle(id, m.Error):
		return failure(id)
	case ok && m.Error == nil && h.settle(id, nil):
		return success(id, m.Result)
	case !ok && h.settleQuoted(m.ID):
		id, _ := quotedID(m.ID)
		return failure(id)
	}
	h.odd(fmt.Sprintf("a response with the id %.*s, which nobody waits for", preview, m.ID))
	return nil
}

// invalid fails the request that m seems to answer, or refuses the request that
// it seems to be.
func (h *HostConn) invalid(m *Message) []byte {
	id, ok := m.Number()
	if ok && m.Method == "" && h.settle(id, &BadAnswer{Why: m.Why}) {
		return failure(id)
	}
	h.odd(m.Why)
	if m.Method != "" && m.ID != nil {
		refused := m.ID
		if !ok {
			refused = json.RawMessage("null")
		}
		h.answer(refused, &RPCError{Code: CodeInvalidRequest, Message: m.Why})
	}
	return nil
}

// settle takes id out of the requests in flight, with err as what came of it. It
// tells whether it was one.
func (h *HostConn) settle(id int64, err error) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, ok := h.inFlight[id]; !ok {
		return false
	}
	delete(h.inFlight, id)
	if err != nil {
		h.failed[id] = err
	}
	return true
}

// settleQuoted fails the request that a response means whose id is its number in
// quotes.
func (h *HostConn) settleQuoted(raw json.RawMessage) bool {
	id, ok := quotedID(raw)
	return ok && h.settle(id, &BadAnswer{Why: fmt.Sprintf("the response has the id %s, the request had %d", raw, id)})
}

func quotedID(raw json.RawMessage) (int64, bool) {
	if len(raw) == 0 || raw[0] != '"' || len(raw) > 32 {
		return 0, false
	}
	id, err := strconv.ParseInt(string(unquote(raw)), 10, 64)
	return id, err == nil
}

// failAll fails every request in flight.
func (h *HostConn) failAll(err *RPCError) []byte {
	h.mu.Lock()
	var batch []byte
	for _, id := range h.sortedInFlight() {
		h.failed[id] = err
		batch = append(append(batch, ','), failure(id)...)
	}
	clear(h.inFlight)
	h.mu.Unlock()
	if batch == nil {
		h.odd(fmt.Sprintf("an error without an id while nothing was asked: %.*q", preview, err.Message))
		return nil
	}
	batch[0] = '['
	return append(batch, ']')
}

func (h *HostConn) sortedInFlight() []int64 {
	ids := make([]int64, 0, len(h.inFlight))
	for id := range h.inFlight {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// TakeError gives what the plugin answered to the request with this id if that was
// no success: an *RPCError or a *BadAnswer. It is given once.
func (h *HostConn) TakeError(id int64) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	err := h.failed[id]
	delete(h.failed, id)
	return err
}

// success is a response as the client expects it.
func success(id int64, result json.RawMessage) []byte {
	b := make([]byte, 0, len(result)+48)
	b = strconv.AppendInt(append(b, `{"jsonrpc":"2.0","id":`...), id, 10)
	b = append(append(b, `,"result":`...), result...)
	return append(b, '}')
}

// failure tells the client that a request failed; TakeError has the reason.
func failure(id int64) []byte {
	b := strconv.AppendInt([]byte(`{"jsonrpc":"2.0","id":`), id, 10)
	return append(b, `,"error":{"code":-32603,"message":""}}`...)
}

func (h *HostConn) odd(what string) {
	if h.o.Odd != nil {
		h.o.Odd(what)
	}
}

// answer puts a refusal among those to be written, and drops it when the plugin
// reads none of them.
func (h *HostConn) answer(id json.RawMessage, refusal *RPCError) {
	body, err := json.Marshal(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   *RPCError       `json:"error"`
	}{"2.0", id, refusal})
	if err != nil {
		return
	}
	select {
	case h.refusals <- body:
	default:
	}
}

// refuse writes refusals until the connection is closed.
func (h *HostConn) refuse() {
	for {
		select {
		case <-h.closed:
			return
		case body := <-h.refusals:
			if h.conn.Send(body) != nil {
				return
			}
		}
	}
}
