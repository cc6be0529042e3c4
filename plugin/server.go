package plugin

import (
	"context"
	"encoding/json"
	"io"
	"strconv"
	"sync"

	"github.com/creachadair/jrpc2"
	"github.com/creachadair/jrpc2/handler"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/plugin/wire"
)

// server answers the requests of one connection.
type server struct {
	a    adapters.Adapter
	rpc  *jrpc2.Server
	stop context.CancelFunc // of every call
	// calls is held for reading by each call that runs, and for writing to wait for
	// them all.
	calls sync.RWMutex
}

func newServer(a adapters.Adapter) *server { return &server{a: a} }

func (s *server) serve(ctx context.Context, in io.Reader, out io.Writer) error {
	base, stop := context.WithCancel(ctx)
	defer stop()
	s.stop = stop
	s.rpc = jrpc2.NewServer(s.methods(), &jrpc2.ServerOptions{
		AllowPush:      true,
		DisableBuiltin: true,
		Concurrency:    max(1, s.a.Manifest().Parallel),
		NewContext:     func() context.Context { return base },
	})
	conn := wire.NewConn(closer{Reader: in}, closer{Writer: out}, wire.Limits{})
	s.rpc.Start(&channel{Conn: conn, s: s})
	ended := make(chan error, 1)
	go func() { ended <- s.rpc.Wait() }()
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

// closer closes what it holds, if that can be closed.
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

// channel deals with what must not wait for calls that run: cancelling one, and
// shutting down.
type channel struct {
	*wire.Conn
	s *server
}

// maxDepth is deeper than anything that encoding/json takes.
const maxDepth = 10_000

// Recv gives the next request for the server.
func (c *channel) Recv() ([]byte, error) {
	for {
		body, err := c.Conn.Recv()
		if err != nil {
			return nil, err
		}
		m, err := wire.ParseMessage(body, maxDepth)
		switch {
		case err != nil: // the server answers that
			return body, nil
		case m.Kind == wire.Notification && m.Method == wire.NotifyCancel:
			c.cancel(m.Params)
		case m.Kind == wire.Request && m.Method == wire.MethodShutdown:
			return nil, c.shutdown(m.ID)
		case m.Kind == wire.Request || m.Kind == wire.Notification:
			return plain(&m), nil
		default:
			return body, nil
		}
	}
}

// plain writes a message without the members that are unknown to JSON-RPC, which the
// server would refuse.
func plain(m *wire.Message) []byte {
	body := append([]byte(`{"jsonrpc":"2.0","method":`), quoted(m.Method)...)
	if m.ID != nil {
		body = append(append(body, `,"id":`...), m.ID...)
	}
	if m.Params != nil {
		body = append(append(body, `,"params":`...), m.Params...)
	}
	return append(body, '}')
}

func quoted(text string) []byte {
	data, err := json.Marshal(text)
	if err != nil {
		panic(err) // a string never fails
	}
	return data
}

func (c *channel) cancel(params json.RawMessage) {
	var p wire.Cancel
	if json.Unmarshal(params, &p) == nil {
		c.s.rpc.CancelRequest(strconv.FormatInt(p.ID, 10))
	}
}

// shutdown ends all calls, answers, and ends the stream.
func (c *channel) shutdown(id json.RawMessage) error {
	c.s.stop()
	c.s.waitCalls()
	answer := append([]byte(`{"jsonrpc":"2.0","id":`), id...)
	if err := c.Send(append(answer, `,"result":null}`...)); err != nil {
		return err
	}
	return io.EOF
}

// methods are the protocol's methods by name. What the adapter cannot do is not
// among them.
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
			s.calls.RLock()
			defer s.calls.RUnlock()
			result, err := method(ctx, req)
			return result, rpcError(name, err)
		}
	}
	return m
}
