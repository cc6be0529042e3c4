package plugin

import (
	"context"
	"encoding/json"
	"io"
	"math"
	"strconv"
	"sync"

	"github.com/creachadair/jrpc2"
	"github.com/creachadair/jrpc2/handler"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/plugin/methods"
	"github.com/bentobuild/bento/plugin/wire"
)

// server answers the requests of one connection.
type server struct {
	methods *methods.Methods
	rpc     *jrpc2.Server
	stop    context.CancelFunc // of every call
	slots   chan struct{}      // holds one for each running call
	once    sync.Once
}

func (s *server) serve(ctx context.Context, in io.Reader, out io.Writer) error {
	base, stop := context.WithCancel(ctx)
	defer stop()
	s.stop = stop
	s.rpc = jrpc2.NewServer(s.assigned(), &jrpc2.ServerOptions{
		AllowPush:      true,
		DisableBuiltin: true,
		Concurrency:    math.MaxInt, // slots limits the calls: a cancel must not wait for one
		NewContext:     func() context.Context { return base },
	})
	s.rpc.Start(conn{wire.NewConn(closer{Reader: in}, closer{Writer: out}, wire.Limits{}), s})
	ended := make(chan error, 1)
	go func() { ended <- s.rpc.Wait() }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
		s.rpc.Stop()
		s.end()
		return ctx.Err()
	}
}

// end cancels the calls and waits for them. No other call runs after it.
func (s *server) end() {
	s.stop()
	s.once.Do(func() {
		for range cap(s.slots) {
			s.slots <- struct{}{}
		}
	})
}

// call returns a method that runs when it has a slot.
func (s *server) call(name string) jrpc2.Handler {
	return func(ctx context.Context, req *jrpc2.Request) (any, error) {
		select {
		case s.slots <- struct{}{}:
			defer func() { <-s.slots }()
		case <-ctx.Done():
			return nil, rpcError(name, ctx.Err())
		}
		result, err := s.methods.Do(ctx, &methods.Call{Method: name, Params: paramsOf(req), Log: s.log(ctx)})
		return result, rpcError(name, err)
	}
}

// log returns the function that sends progress to bento.
func (s *server) log(ctx context.Context) adapters.LogFunc {
	return func(l adapters.Log) {
		_ = s.rpc.Notify(ctx, wire.NotifyLog, l) // the host may have ended
	}
}

func paramsOf(req *jrpc2.Request) json.RawMessage { return json.RawMessage(req.ParamString()) }

// rpcError returns the answer to a call that ended with err.
func rpcError(name string, err error) error {
	if err == nil {
		return nil
	}
	e := methods.Refusal(name, err)
	return &jrpc2.Error{Code: jrpc2.Code(e.Code), Message: e.Message, Data: e.Data}
}

// cancel ends a call. The server knows every request that arrived before this notification.
func (s *server) cancel(_ context.Context, req *jrpc2.Request) (any, error) {
	var p wire.Cancel
	if err := methods.Decode(paramsOf(req), &p); err != nil {
		return nil, rpcError(wire.NotifyCancel, err)
	}
	s.rpc.CancelRequest(strconv.FormatInt(p.ID, 10))
	return nil, nil
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

// assigned returns the methods by name.
func (s *server) assigned() handler.Map {
	m := handler.Map{wire.NotifyCancel: s.cancel}
	for name := range s.methods.Names() {
		m[name] = s.call(name)
	}
	return m
}
