package wasm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/plugin/host"
	"github.com/bentobuild/bento/plugin/wire"
)

// Launcher launches a module that is an adapter, bento-adapter-<id>.wasm, as host.Command launches an
// executable: the messages of the adapter protocol are the same. Each request is one call of the module,
// with the message as input. Its output has the messages of the answer, one on each line.
//
// The module can read only the workspace, under its absolute path.
type Launcher struct {
	Tool *Tool  // of OpenAdapter; nil: each launch opens Module, and compiles it unless Engine keeps it
	Root string // of the workspace, absolute

	Engine EngineOptions
	Module Options

	// Seen, unless nil, receives each request that the module has answered, before the answer is sent,
	// with the looks of the module. The looks are nil if one of the files may have just changed. Seen is
	// called on several goroutines at once.
	Seen func(request []byte, observed host.Observed)
}

// OpenAdapter is Open for a module that is an adapter: it reads the workspace, under its absolute
// path too.
func (e *Engine) OpenAdapter(o Options) (*Tool, error) {
	o.ReadWorkspace, o.atItsPath = true, true
	return e.Open(o)
}

// depth is the nesting of a message that is passed on.
const depth = 1000

// Launch implements host.Launcher. It starts no process: Pid is 0. It compiles the module before it
// returns, because on a busy machine that takes longer than the timeout of an answer.
func (l *Launcher) Launch(ctx context.Context, stderr io.Writer) (*host.Stream, error) {
	tool, closeEngine := l.Tool, func() {}
	if tool == nil {
		engine := NewEngine(l.Engine)
		var err error
		if tool, err = engine.OpenAdapter(l.Module); err != nil {
			return nil, err
		}
		closeEngine = engine.Close
	}
	if err := tool.Check(ctx); err != nil {
		closeEngine()
		return nil, err
	}
	in, stdin := io.Pipe()
	stdout, out := io.Pipe()
	ctx, end := context.WithCancel(context.WithoutCancel(ctx)) // it lives until End, as a process does
	s := &served{tool: tool, root: l.Root, seen: l.Seen, stderr: stderr, conn: wire.NewConn(in, out, wire.Limits{}), running: map[string]context.CancelFunc{}}
	exited := make(chan struct{})
	var status string
	go func() {
		defer close(exited)
		status = s.serve(ctx)
		closeEngine()
	}()
	stop := func() {
		end()
		s.conn.Close()
	}
	return &host.Stream{
		Stdin: stdin, Stdout: stdout, Exited: exited,
		End: func(bool) { stop() },
		Wait: func() string {
			<-exited
			end()
			return status
		},
	}, nil
}

// served is a module that answers requests.
type served struct {
	tool   *Tool
	root   string
	seen   func(request []byte, observed host.Observed)
	stderr io.Writer
	conn   *wire.Conn

	mu      sync.Mutex
	running map[string]context.CancelFunc // by id
	failed  error                         // the module is at fault: it ends, as a process that crashes
}

// serve answers requests until the stream ends, the module is asked to shut down, or it fails. It
// returns how it ended, in the words for a process.
func (s *served) serve(ctx context.Context) string {
	defer s.conn.Close()
	ctx, stop := context.WithCancel(ctx)
	var calls sync.WaitGroup
	defer calls.Wait()
	defer stop()
	for {
		body, err := s.conn.Recv()
		if err != nil {
			break
		}
		m, err := wire.ParseMessage(body, depth)
		if err != nil {
			continue // bento writes no such message
		}
		switch {
		case m.Kind == wire.Request && m.Method == wire.MethodShutdown:
			stop()
			calls.Wait()
			_ = s.conn.Send(response(m.ID, json.RawMessage("null"), nil)) // bento may have ended
			return "exit status 0"
		case m.Kind == wire.Notification && m.Method == wire.NotifyCancel:
			s.cancel(m.Params)
		case m.Kind == wire.Request:
			call := s.begin(ctx, string(m.ID))
			calls.Go(func() { s.answer(call, m.ID, body) })
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed != nil {
		return s.failed.Error()
	}
	return "exit status 0"
}

func (s *served) begin(ctx context.Context, id string) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running[id] = cancel
	return ctx
}

func (s *served) cancel(params json.RawMessage) {
	var p struct {
		ID json.RawMessage `json:"id"`
	}
	_ = json.Unmarshal(params, &p)
	s.mu.Lock()
	defer s.mu.Unlock()
	if cancel := s.running[string(p.ID)]; cancel != nil {
		cancel()
	}
}

// answer calls the module, and passes on its messages. A module that fails ends like a process.
func (s *served) answer(ctx context.Context, id json.RawMessage, request []byte) {
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.running[string(id)]()
		delete(s.running, string(id))
	}()
	input, err := json.Marshal(string(request))
	if err != nil {
		s.fail(err)
		return
	}
	call := recorded{ToolCall: adapters.ToolCall{Input: input, Root: s.root, Log: s.log}}
	if s.seen != nil {
		call.observed = &observations{root: s.root, seen: host.Observed{}}
	}
	a, err := s.tool.call(ctx, call)
	if errors.Is(err, context.Canceled) {
		_ = s.conn.Send(response(id, nil, &wire.RPCError{Code: wire.CodePlugin, Message: "cancelled"}))
		return
	}
	if err != nil {
		s.fail(err)
		return
	}
	if s.seen != nil {
		s.seen(request, call.observed.all())
	}
	for line := range bytes.Lines([]byte(a.Output)) {
		if line = bytes.TrimSpace(line); len(line) > 0 && s.conn.Send(line) != nil {
			return // bento has ended
		}
	}
}

func (s *served) log(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprintln(s.stderr, line)
}

// fail ends the module, after a line with the reason.
func (s *served) fail(err error) {
	s.log(err.Error())
	s.mu.Lock()
	if s.failed == nil {
		s.failed = err
	}
	s.mu.Unlock()
	s.conn.Close()
}

// response returns the bytes of a response.
func response(id, result json.RawMessage, fault *wire.RPCError) []byte {
	b, err := json.Marshal(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Result  json.RawMessage `json:"result,omitempty"`
		Error   *wire.RPCError  `json:"error,omitempty"`
	}{"2.0", id, result, fault})
	if err != nil {
		panic(err) // its parts are valid JSON
	}
	return b
}
