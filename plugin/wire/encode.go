package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
)

// message is a body to send, with room for the header in front of it, so that it is sent
// without copying.
type message struct{ buf []byte }

// room is the maximum size of a header.
const room = len("Content-Length: \r\n\r\n") + 20

func (m message) text() []byte { return m.buf[min(room, len(m.buf)):] }

// frame returns the header and the body.
func (m message) frame() []byte {
	var digits [20]byte
	n := strconv.AppendInt(digits[:0], int64(len(m.text())), 10)
	start := room - len("Content-Length: \r\n\r\n") - len(n)
	at := start + copy(m.buf[start:], "Content-Length: ")
	at += copy(m.buf[at:], n)
	copy(m.buf[at:], "\r\n\r\n")
	return m.buf[start:]
}

// line returns the body and the end of its line. The encoder writes no other.
func (m message) line() []byte { return append(m.text(), '\n') }

// encode returns a request or, without an id, a notification.
func encode(id *int64, method string, params any) (message, error) {
	b := begin()
	if id != nil {
		b.WriteString(`,"id":`)
		b.Write(strconv.AppendInt(b.AvailableBuffer(), *id, 10))
	}
	b.WriteString(`,"method":`)
	b.Write(strconv.AppendQuote(b.AvailableBuffer(), method)) // our own names are plain ASCII
	if params == nil {
		b.WriteByte('}')
		return message{b.Bytes()}, nil
	}
	m, err := end(b, "params", params)
	if err != nil {
		return message{}, fmt.Errorf("%s: %w", method, err)
	}
	return m, nil
}

// encodeAnswer returns a response.
func encodeAnswer(id json.RawMessage, member string, value any) (message, error) {
	b := begin()
	b.WriteString(`,"id":`)
	b.Write(id)
	return end(b, member, value)
}

// begin returns the beginning of a message.
func begin() *bytes.Buffer {
	b := new(bytes.Buffer)
	b.Grow(256)
	b.Write(make([]byte, room))
	b.WriteString(`{"jsonrpc":"2.0"`)
	return b
}

// end adds the last member.
func end(b *bytes.Buffer, member string, value any) (message, error) {
	b.WriteString(`,"` + member + `":`)
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		return message{}, err
	}
	b.Truncate(b.Len() - len("\n"))
	b.WriteByte('}')
	return message{b.Bytes()}, nil
}
