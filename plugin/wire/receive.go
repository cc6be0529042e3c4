package wire

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/bentobuild/bento/internal/jsontext"
)

// next handles one message. An error is final.
func (c *Client) next() error {
	body, err := c.conn.Recv()
	if err != nil {
		return err
	}
	c.o.Trace(false, body)
	m, err := ParseMessage(body, c.o.Depth)
	if err != nil {
		return c.conn.Miscounted(body, err)
	}
	if c.calls.received() > c.o.Idle {
		return fmt.Errorf("%w: more than %d messages without a request", ErrMalformed, c.o.Idle)
	}
	c.take(&m)
	return nil
}

func (c *Client) take(m *Message) {
	switch m.Kind {
	case Response:
		if !c.calls.respond(m) {
			c.odd("a response with the id %.*s, which has no request", preview, m.ID)
		}
	case Notification:
		if c.o.Notify != nil {
			c.o.Notify(m.Method, m.Params)
		}
	case Request:
		c.odd("a request %.*q: a plugin can only answer and notify", preview, m.Method)
		c.answer(m.ID, &RPCError{Code: CodeMethodNotFound, Message: "bento answers no requests"})
	case Invalid:
		c.invalid(m)
	}
}

func badAnswer(format string, args ...any) Answer {
	return Answer{Err: &BadAnswer{Why: fmt.Sprintf(format, args...)}}
}

// quotedID returns the number in quotes.
func quotedID(raw json.RawMessage) (int64, bool) {
	if len(raw) == 0 || raw[0] != '"' {
		return 0, false
	}
	id, err := strconv.ParseInt(string(jsontext.Unquote(raw)), 10, 64)
	return id, err == nil
}

// invalid fails the request that m seems to answer, or refuses the request that it seems to
// be.
func (c *Client) invalid(m *Message) {
	id, ok := m.Number()
	if ok && m.Method == "" && c.calls.settle(id, badAnswer("%s", m.Why)) {
		return
	}
	c.odd("an ignored message: %s", m.Why)
	if m.Method == "" || m.ID == nil {
		return
	}
	refused := json.RawMessage("null")
	if ok {
		refused = m.ID
	}
	c.answer(refused, &RPCError{Code: codeInvalidRequest, Message: m.Why})
}

func (c *Client) odd(format string, args ...any) {
	if c.o.Odd != nil {
		c.o.Odd(fmt.Sprintf(format, args...))
	}
}

// answer queues a refusal, and drops it when the plugin does not read.
func (c *Client) answer(id json.RawMessage, refusal *RPCError) {
	body, err := json.Marshal(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   *RPCError       `json:"error"`
	}{"2.0", id, refusal})
	if err != nil {
		return
	}
	select {
	case c.refusals <- body:
	default:
	}
}

// refuse writes refusals until the stream ends.
func (c *Client) refuse() {
	for {
		select {
		case <-c.done:
			return
		case body := <-c.refusals:
			c.o.Trace(true, body)
			if c.conn.Send(body) != nil {
				return
			}
		}
	}
}
