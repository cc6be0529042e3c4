package plugin

import (
	"encoding/json"
	"io"

	"github.com/creachadair/jrpc2/channel"

	"github.com/bentobuild/bento/plugin/wire"
)

// conn is the channel of the server. It answers shutdown itself: no method of the server can
// end the stream after its own answer.
type conn struct {
	*wire.Conn
	s *server
}

var _ channel.Channel = conn{}

// maxDepth is more than the nesting that encoding/json accepts.
const maxDepth = 10_000

// Recv returns the next message for the server, and io.EOF after shutdown.
func (c conn) Recv() ([]byte, error) {
	body, err := c.Conn.Recv()
	if err != nil {
		return nil, err
	}
	m, err := wire.ParseMessage(body, maxDepth)
	switch {
	case err != nil: // the server reports that
		return body, nil
	case m.Kind == wire.Request && m.Method == wire.MethodShutdown:
		c.s.end()
		if err := c.Send(message{ID: m.ID, Result: json.RawMessage("null")}.encode()); err != nil {
			return nil, err
		}
		return nil, io.EOF
	case m.Kind == wire.Request || m.Kind == wire.Notification:
		return message{ID: m.ID, Method: m.Method, Params: m.Params}.encode(), nil
	}
	return body, nil
}

// message has the members that JSON-RPC defines: the server refuses others.
type message struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
}

func (m message) encode() []byte {
	m.Version = "2.0"
	data, err := json.Marshal(m)
	if err != nil {
		panic(err) // its parts are valid JSON
	}
	return data
}
