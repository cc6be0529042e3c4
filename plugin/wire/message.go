package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/bentobuild/bento/plugin/wire/shape"
)

// Kind is what a message is.
type Kind int

// The kinds of Message.
const (
	Invalid Kind = iota // JSON, but no message of the protocol
	Request
	Notification
	Response
)

// Message is one body, taken apart as far as the envelope goes. The slices are
// parts of the body.
type Message struct {
	Kind   Kind
	ID     json.RawMessage // nil when there is none
	Method string          // "" when there is none
	Params json.RawMessage
	Result json.RawMessage // of a response without error; null when it was left out
	Error  *RPCError       // of a response that has one
	Why    string          // of an Invalid message: what is wrong
}

// maxMembers bounds the members of a message's envelope, of which six mean
// anything.
const maxMembers = 64

// maxID is the longest id in bytes.
const maxID = 256

// ParseMessage takes a body apart. An error wraps ErrMalformed: the body is no
// UTF-8, no JSON, or nested deeper than depth.
//
// Members that the envelope does not have are passed over. An error of null is
// none, a result that is left out is null: both are common and harm nobody.
func ParseMessage(body []byte, depth int) (Message, error) {
	if !utf8.Valid(body) {
		return Message{}, fmt.Errorf("%w: invalid UTF-8", ErrMalformed)
	}
	var e envelope
	var err error
	if first := bytes.TrimLeft(body, " \t\r\n"); len(first) > 0 && first[0] == '{' {
		err = shape.Members(body, depth, e.add)
	} else {
		e.why = "the message is no JSON object (there are no batches in this protocol)"
		err = shape.Check(body, depth)
	}
	if err != nil {
		return Message{}, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return e.message(), nil
}

// envelope is the members of a message as they stand there.
type envelope struct {
	members [6]json.RawMessage // by memberIndex
	n       int                // of members of any name
	why     string
}

const (
	memberVersion = iota
	memberID
	memberMethod
	memberParams
	memberResult
	memberError
)

// memberIndex gives the place of a member, -1 for one that means nothing.
func memberIndex(name []byte) int {
	return slices.Index([]string{"jsonrpc", "id", "method", "params", "result", "error"}, string(name))
}

func (e *envelope) add(key, value []byte) {
	if e.n++; e.n > maxMembers {
		e.why = fmt.Sprintf("the message has more than %d members", maxMembers)
	}
	i := memberIndex(key)
	if i < 0 {
		return
	}
	if e.members[i] != nil && e.why == "" {
		e.why = fmt.Sprintf("the message has two members %q", key)
	}
	e.members[i] = value
}

// message says what the members make.
func (e *envelope) message() Message {
	m := Message{ID: e.members[memberID], Params: e.members[memberParams], Result: e.members[memberResult]}
	failed := e.members[memberError]
	if isNull(failed) {
		failed = nil
	}
	m.Method = string(textOf(e.members[memberMethod]))
	switch why := e.wrong(failed); {
	case why != "":
		m.Why = why
	case m.Method != "" && m.ID == nil:
		m.Kind = Notification
	case m.Method != "":
		m.Kind = Request
	case failed != nil:
		m.Kind, m.Result = Response, nil
		m.Error = new(RPCError)
		if err := shape.Decode(failed, errorShape(), m.Error); err != nil {
			m.Kind, m.Why = Invalid, fmt.Sprintf("error: %v", err)
		}
	default:
		m.Kind = Response
		if m.Result == nil {
			m.Result = json.RawMessage("null")
		}
	}
	return m
}

// wrong says what is wrong with the members, "" for nothing.
func (e *envelope) wrong(failed json.RawMessage) string {
	id, method := e.members[memberID], e.members[memberMethod]
	switch {
	case e.why != "":
		return e.why
	case e.members[memberVersion] == nil:
		return `the message has no "jsonrpc":"2.0"`
	case string(textOf(e.members[memberVersion])) != "2.0":
		return fmt.Sprintf(`the message has "jsonrpc":%.*s, expected "2.0"`, preview, e.members[memberVersion])
	case id != nil && bytes.IndexByte([]byte(`tf{[`), id[0]) >= 0:
		return "the id is no string and no number"
	case len(id) > maxID:
		return fmt.Sprintf("the id has more than %d bytes", maxID)
	case method != nil && (method[0] != '"' || len(method) == 2):
		return "the method is no name"
	case method != nil && (failed != nil || e.members[memberResult] != nil):
		return "the message is a request and a response at once"
	case method == nil && id == nil:
		return "the message has neither a method nor an id"
	case failed != nil && e.members[memberResult] != nil && !isNull(e.members[memberResult]):
		return "the response has both a result and an error"
	}
	return ""
}

// textOf gives the text of a string, nothing for other values.
func textOf(raw []byte) []byte {
	if len(raw) == 0 || raw[0] != '"' {
		return nil
	}
	return shape.Unquote(raw)
}

func isNull(raw []byte) bool { return len(raw) > 0 && raw[0] == 'n' }

// Number gives the id of m where it is a whole number, however it is written
// (1, 1.0, 1e0).
func (m *Message) Number() (int64, bool) {
	if n, err := strconv.ParseInt(string(m.ID), 10, 64); err == nil {
		return n, true
	}
	if len(m.ID) == 0 || len(m.ID) > 32 || m.ID[0] == '"' {
		return 0, false
	}
	f, err := strconv.ParseFloat(string(m.ID), 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return 0, false
	}
	return int64(f), true
}
