package plugin

import (
	"context"
	"io"
	"sync"

	"github.com/creachadair/jrpc2"
	"github.com/creachadair/jrpc2/handler"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/plugin/wire"
)

// server answers the requests of one connection.
type server struct {
	a     adapters.Adapter
	known handler.Map
	rpc   *jrpc2.Server
	stop  context.CancelFunc // of every call
	// calls is locked for reading by each running call, and for writing by one that must
	// run alone, and to wait for them all.
	calls sync.RWMutex
}

func newServer(a adapters.Adapter) *server {
	s := &server{a: a}
	s.known = s.methods()
	return s
}

func (s *server) serve(ctx context.Context, in io.Reader, out io.Writer) error {
	base, stop := context.WithCancel(ctx)
	defer stop()
	s.stop = stop
	atOnce := max(1, s.a.Manifest().Parallel)
	s.rpc = jrpc2.NewServer(withLock(&s.calls, s.known), &jrpc2.ServerOptions{
		AllowPush:      true,
		DisableBuiltin: true,
		Concurrency:    atOnce,
		NewContext:     func() context.Context { return base },
	})
	stream := wire.NewConn(closer{Reader: in}, closer{Writer: out}, wire.Limits{})
	s.rpc.Start(newConn(base, stream, s, atOnce == 1))
	ended := make(chan error, 1)
	go func() {
		err := s.rpc.Wait()
		stop() // of calls that the server does not know
		s.waitCalls()
		ended <- err
	}()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
		s.rpc.Stop()
		s.waitCalls()
		return ctx.Err()
	}
}

func (s *server) waitCalls() {
	s.calls.Lock()
	s.calls.Unlock() //lint:ignore SA2001 it is the wait
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
	for name, method := range m {
		m[name] = func(ctx context.Context, req *jrpc2.Request) (any, error) {
			result, err := method(ctx, req)
			return result, rpcError(name, err)
		}
	}
	return m
}

// withLock returns methods that lock calls for reading.
func withLock(calls *sync.RWMutex, methods handler.Map) handler.Map {
	held := make(handler.Map, len(methods))
	for name, method := range methods {
		held[name] = func(ctx context.Context, req *jrpc2.Request) (any, error) {
			calls.RLock()
			defer calls.RUnlock()
			return method(ctx, req)
		}
	}
	return held
}
