package plugintest

import (
	"context"
	"encoding/json"
	"io"
	"strconv"
	"sync"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/plugin/host"
	"github.com/bentobuild/bento/plugin/methods"
	"github.com/bentobuild/bento/plugin/wire"
)

// Served launches an adapter of this process as a plugin. It does not use the server of the SDK, which
// requires a separate process and would link its packages into every bento.
type Served struct{ Adapter adapters.Adapter }

// Launch implements host.Launcher.
func (s Served) Launch(ctx context.Context, _ io.Writer) (*host.Stream, error) {
	in, stdin := io.Pipe()
	stdout, out := io.Pipe()
	ctx, end := context.WithCancel(context.WithoutCancel(ctx)) // it lives until End, as a process does
	exited := make(chan struct{})
	go func() {
		defer close(exited)
		m := methods.Of(s.Adapter)
		running := &serving{methods: m, slots: make(chan struct{}, m.Parallel()), cancels: make(map[string]context.CancelFunc)}
		running.serve(ctx, in, out)
		out.Close()
	}()
	stop := func() {
		end()
		in.Close()
		out.Close()
	}
	return &host.Stream{
		Stdin: stdin, Stdout: stdout, Exited: exited, End: func(bool) { stop() },
		Wait: func() string {
			<-exited
			end()
			return "exit status 0"
		},
	}, nil
}

// serving answers the requests of one connection.
type serving struct {
	methods *methods.Methods
	slots   chan struct{} // holds one for each running call
	peer    *wire.Peer

	mu      sync.Mutex
	cancels map[string]context.CancelFunc // of the calls, by id
	calls   sync.WaitGroup
	ended   bool           // no other call begins
	last    *wire.Incoming // the request for the shutdown, nil before it
}

// serve returns after a shutdown, at the end of the stream or of ctx, and when no call runs.
func (s *serving) serve(ctx context.Context, in io.ReadCloser, out io.WriteCloser) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	s.mu.Lock() // the reader waits until peer is set
	s.peer = wire.NewPeer(wire.NewConn(in, out, wire.Limits{}), wire.PeerOptions{
		Request: func(in *wire.Incoming) { s.take(ctx, stop, in) },
		Notify:  s.notified,
	})
	s.mu.Unlock()
	select {
	case <-s.peer.Done():
	case <-ctx.Done():
	}
	s.mu.Lock()
	s.ended = true
	s.mu.Unlock()
	stop()
	s.calls.Wait()
	if s.last != nil {
		_ = s.last.Reply(nil) // the host may have ended
	}
	s.peer.Drain()
}

// take begins the call of a request. A shutdown stops them all.
func (s *serving) take(ctx context.Context, stop context.CancelFunc, in *wire.Incoming) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.ended:
	case in.Method == wire.MethodShutdown:
		s.last, s.ended = in, true
		stop()
	case !s.methods.Has(in.Method):
		_ = in.Refuse(&wire.RPCError{Code: wire.CodeMethodNotFound, Message: "method not found: " + in.Method})
	default:
		id := string(in.ID)
		ctx, cancel := context.WithCancel(ctx)
		s.cancels[id] = cancel
		s.calls.Go(func() {
			s.answer(ctx, in)
			cancel()
			s.mu.Lock()
			defer s.mu.Unlock()
			delete(s.cancels, id)
		})
	}
}

// answer runs a call when it has a slot, and replies.
func (s *serving) answer(ctx context.Context, in *wire.Incoming) {
	var result any
	var err error
	select {
	case s.slots <- struct{}{}:
		log := func(l adapters.Log) { _ = s.peer.Notify(wire.NotifyLog, l) } // the host may have ended
		result, err = s.methods.Do(ctx, &methods.Call{Method: in.Method, Params: in.Params, Log: log})
		<-s.slots
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err == nil {
		err = in.Reply(result)
	}
	if err != nil {
		_ = in.Refuse(methods.Refusal(in.Method, err)) // the host may have ended
	}
}

// notified cancels a call. Every request that arrived before this notification has been taken.
func (s *serving) notified(method string, params json.RawMessage) {
	var p wire.Cancel
	if method != wire.NotifyCancel || methods.Decode(params, &p) != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if cancel := s.cancels[strconv.FormatInt(p.ID, 10)]; cancel != nil {
		cancel()
	}
}
