// Package trace reads and writes the messages between bento and its plugins: one frame a
// line, as `bento plugin trace -o` writes it.
package trace

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/bentobuild/bento/plugin/wire"
)

// Line is one frame.
type Line struct {
	Time time.Time       `json:"time"`
	MS   float64         `json:"ms"`   // since the start of the trace
	ID   string          `json:"id"`   // of the plugin
	Sent bool            `json:"sent"` // by bento; else by the plugin
	Body json.RawMessage `json:"body,omitempty"`
	Text string          `json:"text,omitempty"` // instead of a body that is not JSON
}

// NewLine returns the line of a frame. It copies the body.
func NewLine(id string, at time.Time, since time.Duration, sent bool, body []byte) Line {
	l := Line{Time: at, MS: float64(since.Microseconds()) / 1000, ID: id, Sent: sent}
	if json.Valid(body) {
		l.Body = append(json.RawMessage(nil), body...)
	} else {
		l.Text = string(body)
	}
	return l
}

// Write writes one line.
func (l Line) Write(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(l)
}

// maxLine is the size limit of a line, in bytes: a frame of the largest size with its
// members.
const maxLine = 32 << 20

// Read reads lines to the end of r. The error names the malformed line.
func Read(r io.Reader) ([]Line, error) {
	var list []Line
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	for n := 1; lines.Scan(); n++ {
		var l Line
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			return nil, fmt.Errorf("line %d of the trace: %w", n, err)
		}
		list = append(list, l)
	}
	return list, lines.Err()
}

// Exchange is one request of bento and its answer.
type Exchange struct {
	Plugin        string
	Line          int // of the request, from 1
	Method        string
	Params        json.RawMessage // nil for none
	Result        json.RawMessage // nil with an error, or without an answer
	Error         *wire.RPCError
	Notifications []json.RawMessage // the plugin's notifications meanwhile
	Took          time.Duration     // 0 without an answer
}

// Answered reports whether the exchange has an answer.
func (e *Exchange) Answered() bool { return e.Result != nil || e.Error != nil }

// Exchanges joins requests with their answers, in the order of the requests.
func Exchanges(lines []Line) []*Exchange {
	var list []*Exchange
	open := make(map[string][]*pending) // by plugin, oldest first
	for i, l := range lines {
		m, err := wire.ParseMessage(l.Body, maxDepth)
		switch {
		case err != nil:
		case l.Sent && m.Kind == wire.Request:
			p := &pending{id: string(m.ID), at: l.Time, e: &Exchange{Plugin: l.ID, Line: i + 1, Method: m.Method, Params: m.Params}}
			if m.Method == wire.MethodInitialize { // of a new process
				open[l.ID] = nil
			}
			open[l.ID] = append(open[l.ID], p)
			list = append(list, p.e)
		case !l.Sent && m.Kind == wire.Notification && len(open[l.ID]) > 0:
			e := open[l.ID][0].e
			e.Notifications = append(e.Notifications, l.Body)
		case !l.Sent && m.Kind == wire.Response:
			open[l.ID] = settle(open[l.ID], &m, l.Time)
		}
	}
	return list
}

// maxDepth is more than the nesting of a frame.
const maxDepth = 1000

// pending is a request without an answer.
type pending struct {
	id string
	at time.Time
	e  *Exchange
}

// settle adds the answer to its request and returns the requests without one.
func settle(open []*pending, m *wire.Message, at time.Time) (left []*pending) {
	for _, p := range open {
		if p.id != string(m.ID) || p.e.Answered() {
			left = append(left, p)
			continue
		}
		p.e.Result, p.e.Error, p.e.Took = m.Result, m.Error, at.Sub(p.at)
	}
	return left
}
