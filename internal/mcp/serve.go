package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/creachadair/jrpc2/channel"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/plugin/wire"
)

// versions are the versions of the protocol that the server can use, the newest first.
var versions = []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}

// Codes of JSON-RPC and of the protocol.
const (
	codeParse      = -32700
	codeInvalid    = -32600
	codeNoResource = -32002
)

// Bounds of a connection.
const (
	maxRequest = 1 << 20 // bytes of a line of the client
	maxCalls   = 64      // calls that run or wait
)

// connection is a client.
type connection struct {
	*Server
	peer *wire.Peer
	turn chan struct{} // has one element while a call runs

	mu      sync.Mutex
	cancels map[string]context.CancelFunc // of the calls, by id
	calls   sync.WaitGroup
	ended   bool // no other call begins
}

// Serve answers a client until the end of in, or of ctx. It then cancels the running call and waits for it. It
// returns nil at the end of in, else an error.
func (s *Server) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	calls, stop := context.WithCancel(ctx)
	defer stop()
	c := &connection{Server: s, turn: make(chan struct{}, 1), cancels: make(map[string]context.CancelFunc)}
	c.mu.Lock() // the reader waits until peer is set
	conn := wire.NewConn(io.NopCloser(in), open{out}, wire.Limits{Lines: true, Body: maxRequest, Sent: 16 << 20})
	c.peer = wire.NewPeer(conn, wire.PeerOptions{
		Request: func(in *wire.Incoming) { c.take(calls, in) }, Notify: c.notified, Bad: bad,
	})
	c.mu.Unlock()
	var err error
	select {
	case <-c.peer.Done():
		if err = c.peer.Err(); err == io.EOF || errors.Is(err, channel.ErrClosed) {
			err = nil
		}
	case <-ctx.Done():
		err = ctx.Err()
	}
	c.mu.Lock()
	c.ended = true
	c.mu.Unlock()
	stop()
	c.calls.Wait()
	c.drain(ctx)
	return err
}

// drain writes what is queued, unless ctx ends first: the client may not read.
func (c *connection) drain(ctx context.Context) {
	drained := make(chan struct{})
	var writing sync.WaitGroup // not waited for if the client does not read
	writing.Go(func() {
		c.peer.Drain()
		close(drained)
	})
	select {
	case <-drained:
	case <-ctx.Done():
	}
}

// open is a writer that stays open.
type open struct{ io.Writer }

func (open) Close() error { return nil }

// take answers a request, or begins its call.
func (c *connection) take(ctx context.Context, in *wire.Incoming) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch in.Method {
	case "initialize":
		_ = in.Reply(c.initialize(in.Params)) // an answer fails only if the client has ended
	case "ping":
		_ = in.Reply(struct{}{})
	case "tools/list":
		_ = in.Reply(map[string]any{"tools": c.listTools()})
	case "tools/call":
		if err := c.call(ctx, in); err != nil {
			_ = in.Refuse(err)
		}
	case "resources/list":
		_ = in.Reply(map[string]any{"resources": c.listResources()})
	case "resources/templates/list":
		_ = in.Reply(map[string]any{"resourceTemplates": []any{}})
	case "resources/read":
		if contents, err := c.readResource(in.Params); err != nil {
			_ = in.Refuse(err)
		} else {
			_ = in.Reply(map[string]any{"contents": []any{contents}})
		}
	default:
		_ = in.Refuse(&wire.RPCError{Code: wire.CodeMethodNotFound, Message: "method not found: " + in.Method})
	}
}

// initialize agrees on a version: that of the client if it is known, else the newest.
func (c *connection) initialize(params json.RawMessage) any {
	var p struct {
		ProtocolVersion string `json:"protocolVersion"`
	}
	_ = json.Unmarshal(params, &p) // without a version the newest is used
	version := versions[0]
	if slices.Contains(versions, p.ProtocolVersion) {
		version = p.ProtocolVersion
	}
	return map[string]any{
		"protocolVersion": version,
		"capabilities":    map[string]any{"tools": struct{}{}, "resources": struct{}{}},
		"serverInfo":      map[string]any{"name": "bento", "version": c.Version},
		"instructions":    c.Instructions,
	}
}

func (c *connection) listTools() []any {
	list := []any{}
	for _, t := range c.Tools {
		if t.Refusal == nil {
			list = append(list, map[string]any{
				"name": t.Name, "description": t.About, "inputSchema": t.schema(),
				"annotations": map[string]any{"readOnlyHint": !t.Changes, "destructiveHint": t.Changes, "openWorldHint": t.Changes},
			})
		}
	}
	return list
}

func (c *connection) listResources() []any {
	list := []any{}
	for _, r := range c.Resources {
		list = append(list, map[string]any{"uri": r.URI, "name": r.Name, "title": r.Title, "mimeType": r.MIME})
	}
	return list
}

func (c *connection) readResource(params json.RawMessage) (any, *wire.RPCError) {
	var p struct {
		URI string `json:"uri"`
	}
	if json.Unmarshal(params, &p) != nil || p.URI == "" {
		return nil, &wire.RPCError{Code: wire.CodeInvalidParams, Message: "want the uri of a resource"}
	}
	var uris []string
	for _, r := range c.Resources {
		if uris = append(uris, r.URI); r.URI != p.URI {
			continue
		}
		text, err := r.Read()
		if err != nil {
			return nil, &wire.RPCError{Code: codeNoResource, Message: err.Error()}
		}
		return map[string]any{"uri": r.URI, "mimeType": r.MIME, "text": text}, nil
	}
	hint := cmp.Or(diagnostics.Suggest(p.URI, uris), "resources/list lists them")
	return nil, &wire.RPCError{Code: codeNoResource, Message: fmt.Sprintf("no resource has the uri %q: %s", p.URI, hint)}
}

// notified cancels a call. Every request that arrived before this notification has been taken.
func (c *connection) notified(method string, params json.RawMessage) {
	var p struct {
		ID json.RawMessage `json:"requestId"`
	}
	if method != "notifications/cancelled" || json.Unmarshal(params, &p) != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if cancel := c.cancels[string(p.ID)]; cancel != nil {
		cancel()
	}
}

// bad refuses a line that is no message. A line over the limit ends the connection.
func bad(body []byte, m *wire.Message, err error) (*wire.RPCError, bool) {
	switch {
	case body == nil:
		return &wire.RPCError{Code: codeInvalid, Message: err.Error()}, true
	case m == nil:
		return &wire.RPCError{Code: codeParse, Message: strings.ToValidUTF8(err.Error(), "?")}, false
	}
	return &wire.RPCError{Code: codeInvalid, Message: m.Why}, false
}
