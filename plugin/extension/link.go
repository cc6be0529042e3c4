package extension

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/bentobuild/bento/plugin/wire"
)

// Codes of errors that this side answers. The last three are of SEP.
const (
	codeInvalidRequest = -32600
	codeNoMethod       = -32601
	codeInvalidParams  = -32602
	codeInternal       = -32603
	codeManifest       = -32003
	codeNotInitialized = -32010
	codeInitialized    = -32011
	codeVersion        = -32012
	codeShuttingDown   = -32017
)

// errEnded is the error of a call whose answer cannot come any more.
var errEnded = errors.New("the connection to bento ended")

// maxOut is how many messages wait for the writer.
const maxOut = 256

// Error is an error that bento answered. A handler of a command or a screen may return one,
// whose code then reaches bento.
type Error struct {
	Code    int
	Message string
	Reason  string          // data.reason, the stable name in SEP
	Data    json.RawMessage // nil when missing
}

func (e *Error) Error() string {
	if e.Reason != "" {
		return fmt.Sprintf("%s (%s, code %d)", e.Message, e.Reason, e.Code)
	}
	return fmt.Sprintf("%s (code %d)", e.Message, e.Code)
}

// envelope is a message that this side sends.
type envelope struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  any             `json:"params,omitempty"`
	Result  any             `json:"result,omitempty"`
	Error   *wire.RPCError  `json:"error,omitempty"`
}

type answer struct {
	result json.RawMessage
	err    error
}

// link sends the messages of one connection and settles its calls. One goroutine writes.
type link struct {
	conn  *wire.Conn
	out   chan []byte
	stop  chan struct{} // closed by serve: write what waits, then end
	gone  chan struct{} // closed by the writer at its end
	ended chan struct{} // closed by the reader at its end: no answer comes any more

	mu      sync.Mutex
	next    int64
	waiting map[int64]chan answer
}

func newLink(conn *wire.Conn) *link {
	return &link{
		conn:    conn,
		out:     make(chan []byte, maxOut),
		stop:    make(chan struct{}),
		gone:    make(chan struct{}),
		ended:   make(chan struct{}),
		waiting: make(map[int64]chan answer),
	}
}

// write writes until stop, then what waits, and closes the connection.
func (l *link) write() {
	defer close(l.gone)
	defer l.conn.Close()
	for {
		select {
		case body := <-l.out:
			if l.conn.Send(body) != nil {
				return
			}
		case <-l.stop:
			for {
				select {
				case body := <-l.out:
					if l.conn.Send(body) != nil {
						return
					}
				default:
					return
				}
			}
		}
	}
}

// push queues a message. It waits for space, so the reader never calls it.
func (l *link) push(ctx context.Context, e envelope) error {
	e.Version = "2.0"
	body, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("%s: %w", e.Method, err)
	}
	if len(body) > maxBody {
		return fmt.Errorf("%s: a message of %d bytes, at most %d", e.Method, len(body), maxBody)
	}
	select {
	case l.out <- body:
		return nil
	case <-l.gone:
		return errEnded
	case <-ctx.Done():
		return ctx.Err()
	}
}

// pushNow queues an answer of the reader, which must not wait. A full queue ends the
// connection: bento does not read.
func (l *link) pushNow(e envelope) {
	e.Version = "2.0"
	body, err := json.Marshal(e)
	if err != nil {
		panic(err) // the reader's own answers
	}
	select {
	case l.out <- body:
	default:
		l.conn.Close()
	}
}

// call sends a request and waits for its answer.
func (l *link) call(ctx context.Context, method string, params any) (json.RawMessage, error) {
	l.mu.Lock()
	l.next++
	id, settled := l.next, make(chan answer, 1)
	l.waiting[id] = settled
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		delete(l.waiting, id)
		l.mu.Unlock()
	}()
	if err := l.push(ctx, envelope{ID: fmt.Append(nil, id), Method: method, Params: params}); err != nil {
		return nil, err
	}
	select {
	case a := <-settled:
		return a.result, a.err
	case <-ctx.Done():
		return nil, fmt.Errorf("%s: %w", method, ctx.Err())
	case <-l.ended:
	}
	select { // an answer that came before the end
	case a := <-settled:
		return a.result, a.err
	default:
		return nil, fmt.Errorf("%s: %w", method, errEnded)
	}
}

// settle hands a response to its call and reports whether there is one.
func (l *link) settle(m *wire.Message) bool {
	id, ok := m.Number()
	l.mu.Lock()
	settled := l.waiting[id]
	delete(l.waiting, id)
	l.mu.Unlock()
	if !ok || settled == nil {
		return false
	}
	a := answer{result: m.Result}
	if m.Error != nil {
		e := &Error{Code: m.Error.Code, Message: m.Error.Message, Data: m.Error.Data}
		var data struct {
			Reason string `json:"reason"`
		}
		if json.Unmarshal(e.Data, &data) == nil {
			e.Reason = data.Reason
		}
		a.err = e
	}
	settled <- a
	return true
}

// refusal returns the answer to the request id for an error.
func refusal(id json.RawMessage, err error) envelope {
	e := &wire.RPCError{Code: codeInternal, Message: err.Error()}
	var own *Error
	if errors.As(err, &own) {
		e.Code, e.Message, e.Data = own.Code, own.Message, own.Data
	}
	return envelope{ID: id, Error: e}
}
