package ainb

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/bentobuild/bento/plugin/ainb/bus"
	"github.com/bentobuild/bento/plugin/host"
	"github.com/bentobuild/bento/plugin/wire"
)

// maxRequests is how many requests of one extension are handled at once.
const maxRequests = 256

// session is one process of an extension, from its connection to its end.
type session struct {
	x        *extension
	inbox    *bus.Inbox
	stop     context.CancelFunc // ends the handlers
	handlers sync.WaitGroup
	slots    chan struct{}    // a value for each request that is handled
	ready    chan struct{}    // closed after the handshake
	resting  atomic.Bool      // nothing waits to be delivered
	input    inputs           // keys and the mouse
	pushed   chan eventParams // of sockets, whose readers wait

	mu       sync.Mutex
	topics   map[string]bool   // subscribed
	streams  map[string]string // topics, by id
	sockets  map[string]*socket
	children map[string]bool
	ids      int
	secrets  [][]byte // as they were sent, for the trace
}

// connect begins a session.
func (x *extension) connect(ctx context.Context, stream *host.Stream, limits wire.Limits) *wire.Peer {
	<-x.made
	life, stop := context.WithCancel(context.WithoutCancel(ctx))
	s := &session{
		x: x, stop: stop, slots: make(chan struct{}, maxRequests), ready: make(chan struct{}), pushed: make(chan eventParams),
		topics: make(map[string]bool), streams: make(map[string]string), sockets: make(map[string]*socket), children: make(map[string]bool),
	}
	s.input.more = make(chan struct{}, 1)
	var topics []string
	for _, t := range x.e.Manifest.Subscribes.Snapshots {
		if x.mayUse(t) {
			topics = append(topics, t)
			s.topics[t] = true
		} else {
			x.audit("subscribes.snapshots", eventBus, "no grant of the topic "+t, false)
		}
	}
	s.inbox = x.h.bus.Join(x.name, topics)
	x.mu.Lock()
	x.current = s
	x.mu.Unlock()
	peer := wire.NewPeer(wire.NewConn(stream.Stdout, stream.Stdin, limits), wire.PeerOptions{
		Request: func(in *wire.Incoming) { s.take(life, in) },
		Notify:  func(method string, params json.RawMessage) { s.notified(method, params) },
		Bad:     s.bad,
		Odd:     s.odd,
		Trace:   s.trace(),
		After:   x.lastID,
	})
	s.handlers.Go(func() {
		select {
		case <-s.ready:
			s.deliver(life, peer)
		case <-life.Done():
		}
	})
	return peer
}

// bury releases the session, sockets and inbox of a process that has ended.
func (x *extension) bury(p *wire.Peer) {
	s := x.session()
	s.stop()
	s.closeSockets()
	s.handlers.Wait()
	x.h.bus.Leave(x.name, s.inbox)
	x.dropped.Add(s.lost())
	x.screen.reset()
	x.lastID = p.LastID()
	x.mu.Lock()
	x.current = nil
	x.mu.Unlock()
}

// bad handles a body that is no message. One that is not JSON, or of another version of JSON-RPC,
// is ignored; bytes that are no frame end the process.
func (s *session) bad(body []byte, m *wire.Message, err error) (*wire.RPCError, bool) {
	if body == nil {
		return nil, true
	}
	s.odd("an ignored message: " + err.Error())
	var version struct {
		JSONRPC string `json:"jsonrpc"`
	}
	if m == nil || m.Method == "" || m.ID == nil || json.Unmarshal(body, &version) != nil || version.JSONRPC != "2.0" {
		return nil, false
	}
	return refusal(codeInvalidRequest, "invalid request: %s", m.Why), false
}

func (s *session) odd(what string) {
	s.x.h.log(Line{Extension: s.x.name, Level: "warn", Message: wire.Plain(what)})
}

// take handles a request. If the handler needs no I/O, take runs it at once, in the order of the messages.
// Else it runs on a goroutine.
func (s *session) take(ctx context.Context, in *wire.Incoming) {
	h := s.handler(in.Method)
	if h.run == nil {
		_ = in.Refuse(refusal(wire.CodeMethodNotFound, "method not found: %.120s", in.Method))
		return
	}
	if h.now {
		s.answer(ctx, in, h)
		return
	}
	select {
	case s.slots <- struct{}{}:
	default:
		_ = in.Refuse(refusal(codeInternal, "more than %d requests wait for the host", maxRequests))
		return
	}
	s.handlers.Go(func() {
		defer func() { <-s.slots }()
		s.answer(ctx, in, h)
	})
}

// answer runs a handler. A connection that has ended needs no answer.
func (s *session) answer(ctx context.Context, in *wire.Incoming, h handler) {
	result, refused := h.run(ctx, in.Method, in.Params)
	if refused != nil {
		_ = in.Refuse(refused)
		return
	}
	if err := in.Reply(result); errors.Is(err, wire.ErrTooLarge) {
		_ = in.Refuse(refusal(wire.CodeInvalidParams, "the result is too large: %v", err))
	}
}

// handler answers one method.
type handler struct {
	run func(ctx context.Context, method string, params json.RawMessage) (any, *wire.RPCError)
	now bool // it needs no I/O
}

func (s *session) handler(method string) handler {
	switch method {
	case "host/snapshot/get":
		return handler{s.get, true}
	case "host/snapshot/subscribe":
		return handler{s.subscribe, true}
	case "host/event_stream_subscribe":
		return handler{s.openStream, true}
	case "host/action/invoke":
		return handler{s.invoke, false}
	case "host/fs/read_dir":
		return handler{s.readDir, false}
	case "host/fs/read_file":
		return handler{s.readFile, false}
	case "host/fs/write_file":
		return handler{s.writeFile, false}
	case "host/network/fetch":
		return handler{s.fetch, false}
	case "host/spawn_managed_subprocess":
		return handler{s.spawn, false}
	case "host/unix_socket_dial":
		return handler{s.dial, false}
	case "host/secret_store_get":
		return handler{s.secret, false}
	}
	return handler{}
}

// notified handles a notification. It never waits.
func (s *session) notified(method string, params json.RawMessage) {
	switch method {
	case "host/snapshot/publish":
		s.publish(params)
	case "host/log":
		s.logged(params)
	case "host/event_stream_cancel":
		s.closeStream(params)
	case "host/unix_socket_send":
		s.sendSocket(params)
	case "host/unix_socket_close":
		s.closeSocket(params)
	}
}

// nextID returns an id of something that belongs to this session.
func (s *session) nextID() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ids++
	return s.ids
}
