package plugintest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/bentobuild/bento/plugin/host"
	"github.com/bentobuild/bento/plugin/trace"
	"github.com/bentobuild/bento/plugin/wire"
)

// ReplayOptions are the options of NewReplay and RunReplay.
type ReplayOptions struct {
	// ID is the plugin to replay; "" where the trace has only one.
	ID string
	// Replace maps text of the trace, such as the directory of its workspace, to its
	// replacement.
	Replace map[string]string
	// Name is the file of the trace, for the places of RunReplay.
	Name string
}

// Replay is a plugin that answers as another did, from a trace of it. It finds an answer by
// method and params. Equal requests get their answers in order, and the last one from then
// on. A request without an answer in the trace is an error.
type Replay struct {
	mu      sync.Mutex
	known   map[string][]*trace.Exchange
	unknown []string
}

var _ host.Launcher = (*Replay)(nil)

// NewReplay reads a trace, as `bento plugin trace -o` writes it.
func NewReplay(r io.Reader, o ReplayOptions) (*Replay, error) {
	all, err := exchanges(r, o)
	if err != nil {
		return nil, err
	}
	p := &Replay{known: make(map[string][]*trace.Exchange)}
	for _, e := range all {
		if o.ID == "" {
			o.ID = e.Plugin
		}
		if e.Plugin == o.ID && e.Answered() {
			key := keyOf(e.Method, e.Params)
			p.known[key] = append(p.known[key], e)
		}
	}
	if len(p.known) == 0 {
		return nil, errors.New("the trace has no plugin that answers")
	}
	return p, nil
}

// exchanges returns the exchanges of all plugins of a trace, with its paths replaced: longer ones first.
func exchanges(r io.Reader, o ReplayOptions) ([]*trace.Exchange, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	longer := func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) }
	for _, old := range slices.SortedFunc(maps.Keys(o.Replace), longer) {
		text = bytes.ReplaceAll(text, inJSON(old), inJSON(o.Replace[old]))
	}
	lines, err := trace.Read(bytes.NewReader(text))
	return trace.Exchanges(lines), err
}

// inJSON returns text escaped as in a string of JSON.
func inJSON(text string) []byte {
	quoted := encoded(text)
	return quoted[1 : len(quoted)-1]
}

// keyOf returns the key of a request. The version of bento is not part of it.
func keyOf(method string, params json.RawMessage) string {
	if method == wire.MethodInitialize {
		return method
	}
	var text bytes.Buffer
	if params != nil && json.Compact(&text, params) != nil {
		return method
	}
	return method + " " + text.String()
}

// Unknown returns the requests without an answer in the trace.
func (p *Replay) Unknown() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.unknown...)
}

// Launch starts the plugin, in this process.
func (p *Replay) Launch(context.Context, io.Writer) (*host.Stream, error) {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	conn := wire.NewConn(inR, outW, wire.Limits{})
	exited := make(chan struct{})
	go func() {
		defer close(exited)
		defer conn.Close()
		p.serve(conn)
	}()
	return &host.Stream{
		Stdin: inW, Stdout: outR, Exited: exited,
		End:  func(bool) { conn.Close() },
		Wait: func() string { <-exited; return "exit status 0" },
	}, nil
}

func (p *Replay) serve(conn *wire.Conn) {
	for {
		body, err := conn.Recv()
		if err != nil {
			return
		}
		m, err := wire.ParseMessage(body, maxDepth)
		if err != nil || m.Kind != wire.Request {
			continue
		}
		for _, answer := range p.answer(&m) {
			if conn.Send(answer) != nil {
				return
			}
		}
		if m.Method == wire.MethodShutdown {
			return
		}
	}
}

// answer returns the frames that answer a request.
func (p *Replay) answer(m *wire.Message) [][]byte {
	e := p.take(m)
	head := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,`, m.ID)
	if e == nil {
		return [][]byte{[]byte(head + `"error":{"code":-32603,"message":"the trace has no answer to this"}}`)}
	}
	var frames [][]byte
	for _, note := range e.Notifications {
		frames = append(frames, note)
	}
	last := head + `"result":` + string(e.Result) + "}"
	if e.Error != nil {
		last = head + `"error":` + strings.TrimSpace(string(encoded(e.Error))) + "}"
	}
	return append(frames, []byte(last))
}

// take returns the next answer to a request, or nil.
func (p *Replay) take(m *wire.Message) *trace.Exchange {
	p.mu.Lock()
	defer p.mu.Unlock()
	key := keyOf(m.Method, m.Params)
	list := p.known[key]
	switch {
	case len(list) == 0 && m.Method == wire.MethodShutdown:
		return &trace.Exchange{Result: json.RawMessage("null")}
	case len(list) == 0:
		p.unknown = append(p.unknown, key)
		return nil
	case len(list) > 1:
		p.known[key] = list[1:]
	}
	return list[0]
}
