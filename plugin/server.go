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
	"github.com/bentobuild/bento/plugin/wire"
)

// server answers the requests of one connection.
type server struct {
	a     adapters.Adapter
	rpc   *jrpc2.Server
	stop  context.CancelFunc // of every call
	slots chan struct{}      // holds one for each running call
	once  sync.Once

	mu      sync.Mutex
	options json.RawMessage // of initialize
}

func (s *server) serve(ctx context.Context, in io.Reader, out io.Writer) error {
	base, stop := context.WithCancel(ctx)
	defer stop()
	s.stop = stop
	s.rpc = jrpc2.NewServer(s.methods(), &jrpc2.ServerOptions{
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
func (s *server) call(name string, method jrpc2.Handler) jrpc2.Handler {
	return func(ctx context.Context, req *jrpc2.Request) (any, error) {
		select {
		case s.slots <- struct{}{}:
			defer func() { <-s.slots }()
		case <-ctx.Done():
			return nil, rpcError(name, ctx.Err())
		}
		result, err := method(s.withOptions(ctx, req), req)
		return result, rpcError(name, err)
	}
}

// cancel ends a call. The server knows every request that came before this notification.
func (s *server) cancel(_ context.Context, req *jrpc2.Request) (any, error) {
	var p wire.Cancel
	if err := paramsOf(req, &p); err != nil {
		return nil, err
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

// methods returns the protocol's methods by name, without those that the adapter lacks.
func (s *server) methods() handler.Map {
	m := handler.Map{
		wire.MethodInitialize:  s.initialize,
		wire.MethodDetect:      s.detect,
		wire.MethodToolchain:   s.toolchain,
		wire.MethodFingerprint: s.fingerprint,
		wire.MethodInstall:     s.install,
		wire.MethodDiagnostics: s.diagnose,
	}
	if _, ok := s.a.(adapters.TaskLister); ok {
		m[wire.MethodTasks] = s.tasks
	}
	if _, ok := s.a.(adapters.Linker); ok {
		m[wire.MethodLinks] = s.links
	}
	if _, ok := s.a.(adapters.Scoper); ok {
		m[wire.MethodInstallScope] = s.installScope
	}
	if _, ok := s.a.(adapters.Adder); ok {
		m[wire.MethodAdd] = s.add
	}
	if _, ok := s.a.(adapters.ToolchainResolver); ok {
		m[wire.MethodResolved] = s.resolved
	}
	if _, ok := s.a.(adapters.Scaffolder); ok {
		m[wire.MethodScaffold] = s.scaffold
	}
	for name, method := range m {
		m[name] = s.call(name, method)
	}
	m[wire.NotifyCancel] = s.cancel
	return m
}
