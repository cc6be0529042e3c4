package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"sync"

	"github.com/creachadair/jrpc2/channel"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/plugin/wire"
)

// maxDepth is more than the nesting that encoding/json accepts.
const maxDepth = 10_000

// The codes of JSON-RPC for bodies that are no request.
const (
	codeParse   = -32700
	codeInvalid = -32600
)

// server answers the requests of one connection.
type server struct {
	methods *methods
	slots   chan struct{} // holds one for each running call
	peer    *wire.Peer

	mu      sync.Mutex
	cancels map[string]context.CancelFunc // of the calls, by id
	calls   sync.WaitGroup
	ended   bool           // no other call begins
	last    *wire.Incoming // the request for the shutdown, nil before it
	leaving chan struct{}  // closed at the request for the shutdown
}

// serve returns after a shutdown, at the end of the stream or of ctx, and when no call runs.
func (s *server) serve(ctx context.Context, in io.Reader, out io.Writer) error {
	calls, stop := context.WithCancel(ctx)
	defer stop()
	s.mu.Lock() // the reader waits until peer is set
	s.peer = wire.NewPeer(wire.NewConn(closer{Reader: in}, closer{Writer: out}, wire.Limits{Depth: maxDepth}), wire.PeerOptions{
		Request: func(in *wire.Incoming) { s.take(calls, in) },
		Notify:  s.notified,
		Bad:     bad,
	})
	s.mu.Unlock()
	var err error
	select {
	case <-s.leaving:
	case <-s.peer.Done():
		if err = s.peer.Err(); err == io.EOF || errors.Is(err, channel.ErrClosed) {
			err = nil
		}
	case <-ctx.Done():
		err = ctx.Err()
	}
	s.mu.Lock()
	s.ended = true
	s.mu.Unlock()
	stop()
	s.calls.Wait()
	if s.last != nil {
		_ = s.last.Reply(nil) // bento may have ended
	}
	s.peer.Drain()
	return err
}

// take begins the call of a request.
func (s *server) take(ctx context.Context, in *wire.Incoming) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := string(in.ID)
	switch {
	case s.ended:
	case in.Method == wire.MethodShutdown:
		s.last, s.ended = in, true
		close(s.leaving)
	case s.methods.by[in.Method] == nil:
		_ = in.Refuse(&wire.RPCError{Code: wire.CodeMethodNotFound, Message: "method not found: " + in.Method})
	case s.cancels[id] != nil:
		_ = in.Refuse(&wire.RPCError{Code: codeInvalid, Message: "a running call has the same id"})
	default:
		ctx, cancel := context.WithCancel(ctx)
		s.cancels[id] = cancel
		s.calls.Go(func() {
			result, err := s.run(ctx, in)
			cancel()
			s.mu.Lock()
			delete(s.cancels, id) // bento may use it again after the answer
			s.mu.Unlock()
			if err == nil {
				err = in.Reply(result)
			}
			if err != nil {
				_ = in.Refuse(refusal(in.Method, err)) // bento may have ended
			}
		})
	}
}

// run runs a call when it has a slot.
func (s *server) run(ctx context.Context, in *wire.Incoming) (any, error) {
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	log := func(l adapters.Log) { _ = s.peer.Notify(wire.NotifyLog, l) } // bento may have ended
	return s.methods.do(ctx, &call{method: in.Method, params: in.Params, log: log})
}

// notified cancels a call. Every request that arrived before this notification has been taken.
func (s *server) notified(method string, params json.RawMessage) {
	var p wire.Cancel
	if method != wire.NotifyCancel || decode(params, &p) != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if cancel := s.cancels[strconv.FormatInt(p.ID, 10)]; cancel != nil {
		cancel()
	}
}

// bad refuses a body that is no message. Bytes that are no frame end the connection.
func bad(body []byte, m *wire.Message, err error) (*wire.RPCError, bool) {
	switch {
	case body == nil:
		return nil, true
	case m == nil:
		return &wire.RPCError{Code: codeParse, Message: err.Error()}, false
	}
	return &wire.RPCError{Code: codeInvalid, Message: m.Why}, false
}

// closer closes its value if that is an io.Closer.
type closer struct {
	io.Reader
	io.Writer
}

func (c closer) Close() error {
	for _, stream := range []any{c.Reader, c.Writer} {
		if c, ok := stream.(io.Closer); ok {
			return c.Close()
		}
	}
	return nil
}
