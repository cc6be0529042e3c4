package extension

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/bentobuild/bento/plugin/wire"
)

const (
	maxBody  = 16 << 20
	maxDepth = 1000 // of bento's messages: configuration may nest

	drain = 2 * time.Second        // for queued messages at a shutdown
	yield = 500 * time.Millisecond // for a handler whose context is cancelled
)

// server serves one connection.
type server struct {
	x      Extension
	o      Options
	queue  *queue
	client *Client

	leaving chan struct{} // closed at the first shutdown
	leave   sync.Once
	last    *wire.Incoming // the request for it, nil for a notification; read after leaving
	failed  chan error     // of Start
	ready   bool           // initialized; the reader's
}

func newServer(x Extension, o *Options) *server {
	s := &server{x: x, o: *o, queue: newQueue(), leaving: make(chan struct{}), failed: make(chan error, 1)}
	if s.o.In == nil {
		s.o.In = os.Stdin
	}
	if s.o.Out == nil {
		s.o.Out = os.Stdout
	}
	if s.o.Stderr == nil {
		s.o.Stderr = os.Stderr
	}
	s.client = &Client{stderr: s.o.Stderr, sep: s.o.SEP}
	s.client.session.Store(&session{})
	return s
}

func (s *server) serve(ctx context.Context) error {
	handlers, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	peer := wire.NewPeer(wire.NewConn(s.o.In, s.o.Out, wire.Limits{Body: maxBody, Depth: maxDepth}), wire.PeerOptions{
		Request: func(in *wire.Incoming) { s.take(&message{in, in.Method, in.Params}) },
		Notify:  func(method string, params json.RawMessage) { s.take(&message{nil, method, params}) },
		Bad:     s.bad,
		Odd:     func(what string) { s.odd("%s", what) },
	})
	s.client.peer = peer
	handled := make(chan struct{})
	go func() {
		defer close(handled)
		if s.o.SEP && s.o.Token != "" {
			_ = peer.Notify("sep.hello", map[string]string{"token": s.o.Token})
		}
		for i, dropped, ok := s.queue.take(handlers); ok; i, dropped, ok = s.queue.take(handlers) {
			i.handler(handlers, dropped)
		}
	}()
	var err error
	select {
	case <-peer.Done():
		if err = peer.Err(); err == io.EOF { // between two messages
			err = nil
		}
	case err = <-s.failed:
	case <-s.leaving:
	case <-ctx.Done():
		err = ctx.Err()
	}
	s.finish(handled, cancel)
	return err
}

// finish waits for the handlers, answers the shutdown and ends the connection.
func (s *server) finish(handled <-chan struct{}, cancel context.CancelFunc) {
	s.queue.close()
	timer := time.NewTimer(drain)
	defer timer.Stop()
	select {
	case <-handled:
	case <-timer.C:
		cancel()
		timer.Reset(yield)
		select {
		case <-handled:
		case <-timer.C:
		}
	}
	select {
	case <-s.leaving:
		if s.last != nil {
			_ = s.last.Reply(struct{}{})
		}
	default:
	}
	s.client.peer.Drain()
}

// message is a request or, with a nil in, a notification.
type message struct {
	in     *wire.Incoming
	method string
	params json.RawMessage
}

// bad handles a body that is no message. Bytes that are no frame end the connection.
func (s *server) bad(body []byte, m *wire.Message, err error) (*wire.RPCError, bool) {
	switch {
	case body == nil:
		return nil, true
	case m == nil:
		s.odd("ignored a message: %v", err)
	case m.Method != "" && string(m.ID) == "null":
		return &wire.RPCError{Code: codeInvalidRequest, Message: "id: required a string or a number, found null"}, false
	}
	return nil, false
}

// odd logs messages that bento should not have sent, and faults of handlers.
func (s *server) odd(format string, args ...any) {
	fmt.Fprintf(s.o.Stderr, s.x.Info().Name+": "+format+"\n", args...)
}

// take takes one message. It never waits for a handler or the writer.
func (s *server) take(m *message) {
	err := s.route(m)
	switch {
	case err == nil:
	case m.in != nil:
		_ = m.in.Refuse(refusal(err))
	default:
		s.odd("ignored %s: %v", m.method, err)
	}
}

// route answers messages about the connection, and queues the others for handlers.
func (s *server) route(m *message) error {
	prefix := "plugin/"
	if s.o.SEP {
		prefix = "sep."
	}
	name, ok := strings.CutPrefix(m.method, prefix)
	if !ok {
		name = ""
	}
	switch {
	case name == "shutdown":
		s.leave.Do(func() {
			s.last = m.in
			close(s.leaving)
		})
		return nil
	case name == "init" && !s.o.SEP, name == "initialize" && s.o.SEP:
		return s.initialize(m)
	case !s.ready:
		return &Error{Code: codeNotInitialized, Message: m.method + " before the first message"}
	case name == "health" && s.o.SEP:
		return s.health(m)
	}
	handler, err := s.handler(name, m)
	if err != nil || handler == nil {
		return err
	}
	return s.enqueue(m, handler)
}

// enqueue queues the handler of a message, whose result answers a request.
func (s *server) enqueue(m *message, handler handlerFunc) error {
	i := item{event: m.in == nil, size: len(m.params)}
	i.handler = func(ctx context.Context, dropped int) {
		result, err := s.guard(ctx, dropped, handler)
		switch {
		case m.in == nil && err != nil:
			s.odd("%s: %v", m.method, err)
		case m.in == nil:
		case err != nil:
			_ = m.in.Refuse(refusal(err))
		default:
			if err := m.in.Reply(result); err != nil { // it is too large or no JSON, or the stream has ended
				_ = m.in.Refuse(refusal(err))
			}
		}
	}
	if s.queue.add(i) {
		return nil
	}
	select {
	case <-s.leaving:
		return &Error{Code: codeShuttingDown, Message: "the extension is shutting down"}
	default:
		return &Error{Code: codeInternal, Message: fmt.Sprintf("more than %d requests wait for the extension", maxRequests)}
	}
}

// handlerFunc runs a method of the extension.
type handlerFunc func(ctx context.Context, dropped int) (any, error)

// guard calls a handler and turns its panic into an error.
func (s *server) guard(ctx context.Context, dropped int, h handlerFunc) (result any, err error) {
	defer func() {
		if p := recover(); p != nil {
			s.odd("panic: %v\n%s", p, debug.Stack())
			err = &Error{Code: codeInternal, Message: fmt.Sprintf("the extension panicked: %v", p)}
		}
	}()
	return h(ctx, dropped)
}

// fromEnviron returns the connection that bento announced.
func fromEnviron(in, out *os.File) (*Options, error) {
	endpoint := os.Getenv("SEP_ENDPOINT")
	if endpoint == "" {
		return &Options{In: in, Out: out}, nil
	}
	o := &Options{In: in, Out: out, SEP: true}
	network, address, _ := strings.Cut(endpoint, ":")
	switch network {
	case "stdio":
		return o, nil
	case "unix", "tcp":
	default:
		return nil, fmt.Errorf("SEP_ENDPOINT: required unix:PATH, tcp:ADDRESS or stdio:, found %q", endpoint)
	}
	o.Token = os.Getenv("SEP_TOKEN")
	if o.Token == "" {
		return nil, errors.New("SEP_TOKEN: required with a socket, found none")
	}
	conn, err := net.Dial(network, address)
	if err != nil {
		return nil, fmt.Errorf("SEP_ENDPOINT: %w", err)
	}
	o.In, o.Out = conn, conn
	return o, nil
}
