package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/bentobuild/bento/internal/jsontext"
	"github.com/bentobuild/bento/plugin/wire/shape"
)

// kind is the kind of a message.
type kind int

// The kinds of Message.
const (
	Invalid kind = iota // JSON, but not a message of the protocol
	Request
	Notification
	Response
)

// Message is one body with its envelope parsed. The slices are parts of the body.
type Message struct {
	Kind   kind
	ID     json.RawMessage // nil when missing
	Method string          // "" when missing
	Params json.RawMessage
	Result json.RawMessage // of a response without error; null when missing
	Error  *RPCError       // of a response with an error
	Why    string          // of an Invalid message: its fault
}

// maxMembers is how many members a message's envelope may have, of which six are known.
const maxMembers = 64

// maxID is the size limit of an id, in bytes.
const maxID = 256

// ParseMessage parses the envelope of a body. An error wraps ErrMalformed: the body is not
// UTF-8, not JSON, or nested deeper than depth.
//
// It ignores unknown members. A null error is no error, and a missing result is null: both
// are common and harmless.
func ParseMessage(body []byte, depth int) (Message, error) {
	if !utf8.Valid(body) {
		at := firstInvalid(body)
		return Message{}, fmt.Errorf("%w: invalid UTF-8 at byte %d: %.30q", ErrMalformed, at, body[at:])
	}
	var e envelope
	var err error
	if first := bytes.TrimLeft(body, " \t\r\n"); len(first) > 0 && first[0] == '{' {
		err = shape.Members(body, depth, e.add)
	} else {
		e.why = "the message is not a JSON object (this protocol has no batches)"
		err = shape.Check(body, depth)
	}
	if errors.Is(err, shape.ErrDeep) {
		return Message{}, fmt.Errorf("%w: %w, more than %d levels", ErrMalformed, err, depth)
	}
	if err != nil {
		return Message{}, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return e.message(), nil
}

// firstInvalid returns where the first byte is that is not of UTF-8.
func firstInvalid(body []byte) int {
	at := 0
	for at < len(body) {
		r, size := utf8.DecodeRune(body[at:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		at += size
	}
	return at
}

// envelope is the raw members of a message.
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

// memberIndex returns the index of a member, -1 for an unknown one.
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

// message returns the message that the members form.
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

// wrong returns the fault of the members, or "".
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
		return "the id is neither a string nor a number"
	case len(id) > maxID:
		return fmt.Sprintf("the id has more than %d bytes", maxID)
	case method != nil && (method[0] != '"' || len(method) == 2):
		return "the method is not a name"
	case method != nil && (failed != nil || e.members[memberResult] != nil):
		return "the message is a request and a response at once"
	case method == nil && id == nil:
		return "the message has neither a method nor an id"
	case failed != nil && e.members[memberResult] != nil && !isNull(e.members[memberResult]):
		return "the response has both a result and an error"
	}
	return ""
}

// textOf returns the text of a string, nil for other values.
func textOf(raw []byte) []byte {
	if len(raw) == 0 || raw[0] != '"' {
		return nil
	}
	return jsontext.Unquote(raw)
}

func isNull(raw []byte) bool { return len(raw) > 0 && raw[0] == 'n' }

// Number returns the id of m if it is a whole number, in any notation (1, 1.0, 1e0).
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
