package sep

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/plugin/wire"
)

// session is the conversation with one process of an extension. The reading goroutine of its
// connection calls asked, noted and bad.
type session struct {
	x     *Extension
	token string // that sep.hello must have; "" for an inherited connection
	stop  context.CancelFunc
	work  sync.WaitGroup // handlers of requests, the sender of events, the health checks
	serve func(p *wire.Peer)

	greeted chan struct{} // closed by a good sep.hello
	tried   chan struct{} // closed when the handshake is over
	failed  chan struct{} // closed when the process must end for fault
	leaving chan struct{} // closed when it is asked to shut down
	// refusing: its requests are refused from then on.
	refusing atomic.Bool

	// The reader's alone.
	authenticated bool
	bucket        *bucket
	limited       int         // messages over the rate in a row
	errors        []time.Time // of the protocol, within a minute
	counted       bool        // the message that odd is called for next is one of them

	mu       sync.Mutex
	question *wire.Question  // sep.initialize
	ready    bool            // it was answered well
	version  version         // that the extension has chosen
	open     map[string]bool // ids of accepted requests
	fault    *fault
}

// requestTimeout is the time for a request in both directions.
const requestTimeout = 10 * time.Second

// The bounds of misbehaviour before the process is ended.
const (
	maxLimited = 100 // messages over the rate in a row
	maxErrors  = 20  // of the protocol, in a minute
)

// fault is why a process was ended, or could not be used.
type fault struct {
	Code adapters.Code
	// Reason is more exact than the code: "startup_timeout", "initialize_failed", "id_mismatch",
	// "version_mismatch", "version_unsupported", "exited", "framing", "payload_too_large", "unhealthy",
	// "not_authenticated", "protocol_abuse" or "rate_abuse".
	Reason string
	What   string
}

func (f *fault) Error() string { return f.What }

// newSession returns a session, and the context that ends with it.
func newSession(ctx context.Context, x *Extension, token string) (*session, context.Context) {
	life, stop := context.WithCancel(context.WithoutCancel(ctx))
	s := &session{
		x: x, token: token, stop: stop, authenticated: token == "",
		greeted: make(chan struct{}), tried: make(chan struct{}), failed: make(chan struct{}), leaving: make(chan struct{}),
		bucket: newBucket(x.terms.Limits.MaxRequestsPerSecond, time.Now()),
		open:   make(map[string]bool),
	}
	s.serve = func(p *wire.Peer) {
		s.work.Go(func() { s.send(life, p) })
		s.work.Go(func() { s.beat(life, p) })
		s.work.Go(func() { s.guard(life, p) })
	}
	return s, life
}

// end ends the session of a process that has ended.
func (s *session) end() {
	s.stop()
	s.work.Wait()
}

// why returns the reason of a session that has ended.
func (s *session) why() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fault == nil {
		return "exited"
	}
	return s.fault.Reason
}

// guard ends the process after a fault.
func (s *session) guard(life context.Context, p *wire.Peer) {
	select {
	case <-s.failed:
		s.x.resident.End(p, s.fault.Code, s.fault.What)
	case <-life.Done():
	}
}

// limits are those of the connection.
func (s *session) limits() wire.Limits {
	return wire.Limits{Body: s.x.terms.Limits.MaxRequestBytes, Sent: maxSent, Strict: true}
}

// maxSent is the size limit of a message to the extension, in bytes.
const maxSent = 4 << 20

// hooks are the functions that the connection calls. life ends with the session.
func (s *session) hooks(life context.Context) wire.PeerOptions {
	return wire.PeerOptions{
		Request: func(in *wire.Incoming) { s.asked(life, in) },
		Notify:  s.noted,
		Bad:     s.bad,
		Odd:     s.odd,
		Trace:   s.trace,
	}
}

// trace passes messages on, without the token.
func (s *session) trace(sent bool, body []byte) {
	if s.x.o.Trace == nil {
		return
	}
	if !sent && s.token != "" && !closed(s.greeted) {
		body = []byte(`{"jsonrpc":"2.0","method":"sep.hello","params":{"token":"…"}}`)
	}
	s.x.o.Trace(sent, body)
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// fail ends the session for a fault, unless it has one.
func (s *session) fail(as adapters.Code, reason, format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fault == nil {
		s.fault = &fault{as, reason, fmt.Sprintf(format, args...)}
		close(s.failed)
	}
}

// blame is fail for a connection that ends by itself, after a last reply: the process is not ended before.
func (s *session) blame(as adapters.Code, reason, what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fault == nil {
		s.fault = &fault{as, reason, what}
	}
}

// count counts an error of the protocol, and ends the session after too many in a minute.
func (s *session) count(what string) {
	now := time.Now()
	for len(s.errors) > 0 && now.Sub(s.errors[0]) >= time.Minute {
		s.errors = s.errors[1:]
	}
	s.errors = append(s.errors, now)
	if len(s.errors) >= maxErrors {
		s.fail(adapters.MalformedResponse, "protocol_abuse", "%d errors of the protocol in a minute, the last one: %s", len(s.errors), what)
	}
}

// odd counts answers without a request, which the connection ignores. It is also called for messages that
// bad has counted.
func (s *session) odd(what string) {
	if !s.counted {
		s.count(what)
	}
	s.counted = false
}

// spend takes a token of the rate, and ends the session of an extension that never stops.
func (s *session) spend() (wait time.Duration) {
	if wait = s.bucket.take(time.Now()); wait == 0 {
		s.limited = 0
		return 0
	}
	if s.limited++; s.limited >= maxLimited {
		s.fail(adapters.MalformedResponse, "rate_abuse", "%d messages in a row over %d a second", s.limited, s.bucket.rate)
	}
	return wait
}

// bad judges bytes that are no message.
func (s *session) bad(body []byte, m *wire.Message, err error) (reply *wire.RPCError, end bool) {
	switch {
	case !s.authenticated:
		s.stranger("the first message is not sep.hello with the value of SEP_TOKEN: " + err.Error())
		return nil, true
	case body == nil && errors.Is(err, wire.ErrTooLarge):
		s.blame(adapters.MalformedResponse, tooLarge, err.Error())
		return refuse(tooLarge, "a message has more than %d bytes", s.x.terms.Limits.MaxRequestBytes), true
	case body == nil:
		s.fail(adapters.MalformedResponse, "framing", "%v", err)
		return nil, true
	case m == nil:
		s.count(err.Error())
		return refuse(parseError, "%v", err), false
	}
	s.count(err.Error())
	s.counted = true
	if m.Method == "" && m.ID != nil { // an answer that nothing asked for gets none
		return nil, false
	}
	return refuse(invalidRequest, "%v", err), false
}
