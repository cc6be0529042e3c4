package plugintest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/bentobuild/bento/plugin/host"
)

// longest is the size limit of a line, in bytes, with some white space around it.
const longest = 1<<20 + 64

// talk is one process of a one-shot tool without the host. It is for one goroutine.
type talk struct {
	s      *oneshotSuite
	clause string
	stream *host.Stream
	status func() string // waits for the end of the process and returns its status

	lines   chan rawLine  // closed at the end of stdout
	quit    chan struct{} // closed when lines are no longer read
	reading sync.WaitGroup
}

// rawLine is a line with its end, or a line that is too long.
type rawLine struct {
	text []byte
	long bool
}

// launch starts a process of the tool for the test of a clause.
func (s *oneshotSuite) launch(ctx context.Context, clause string) (*talk, error) {
	stream, err := s.command().Launch(ctx, s.o.Stderr)
	if err != nil {
		return nil, fmt.Errorf("it cannot be started: %w", err)
	}
	t := &talk{s: s, clause: clause, stream: stream, status: sync.OnceValue(stream.Wait), lines: make(chan rawLine), quit: make(chan struct{})}
	t.reading.Go(t.read)
	return t, nil
}

func (t *talk) read() {
	defer close(t.lines)
	br := bufio.NewReaderSize(t.stream.Stdout, longest)
	for {
		text, err := br.ReadSlice('\n')
		if len(text) > 0 {
			select {
			case t.lines <- rawLine{bytes.Clone(text), errors.Is(err, bufio.ErrBufferFull)}:
			case <-t.quit:
				return
			}
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return
		}
	}
}

// end ends the process.
func (t *talk) end() {
	close(t.quit)
	t.stream.Stdin.Close()
	t.stream.End(true)
	t.status()
	t.stream.Stdout.Close()
	t.reading.Wait()
}

// send writes a line, by write unless that is nil. A tool may not read, so the write has a
// timeout.
func (t *talk) send(message any, write func([]byte) error) error {
	text := append(encoded(message), '\n')
	t.trace(true, text[:len(text)-1])
	if write == nil {
		write = func(text []byte) error {
			_, err := t.stream.Stdin.Write(text)
			return err
		}
	}
	timer := time.AfterFunc(t.s.o.Within, func() { t.stream.Stdin.Close() })
	defer timer.Stop()
	return write(text)
}

func (t *talk) trace(sent bool, body []byte) {
	if t.s.o.Frame != nil {
		t.s.o.Frame(t.clause, sent, body)
	}
}

// line waits for a line and returns its object.
func (t *talk) line(ctx context.Context, within time.Duration, what string) ([]byte, error) {
	timer := time.NewTimer(within)
	defer timer.Stop()
	exited, held := t.stream.Exited, (<-chan time.Time)(nil)
	for {
		select {
		case l, ok := <-t.lines:
			if !ok {
				return nil, t.ended(what)
			}
			t.trace(false, bytes.TrimSpace(l.text))
			return t.object(l)
		case <-exited: // a process that it left behind may keep the stream open
			exited, held = nil, time.After(time.Second)
		case <-held:
			return nil, t.ended(what)
		case <-timer.C:
			return nil, fmt.Errorf("timed out after %v: no line with %s", within, what)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// ended returns the error of a stdout that ended in place of a line.
func (t *talk) ended(what string) error {
	if !t.exits(time.Second) {
		return fmt.Errorf("it closed its standard output before %s", what)
	}
	return fmt.Errorf("it ended before %s (%s)", what, t.status())
}

// exits reports whether the process ends within this time.
func (t *talk) exits(within time.Duration) bool {
	timer := time.NewTimer(within)
	defer timer.Stop()
	select {
	case <-t.stream.Exited:
		return true
	case <-timer.C:
		return false
	}
}

// object returns the object of a line, and notes the faults of the line.
func (t *talk) object(l rawLine) ([]byte, error) {
	text := bytes.TrimSpace(l.text)
	wrong := func(clause, format string, args ...any) error {
		t.s.seen.note(clause, format, args...)
		return fmt.Errorf(format, args...)
	}
	switch {
	case l.long || len(text) > 1<<20:
		return nil, wrong("O2.1", "a line of more than %d bytes", 1<<20)
	case bytes.HasPrefix(text, []byte("\ufeff")):
		return nil, wrong("O2.3", "a line with a byte order mark")
	case !utf8.Valid(text):
		return nil, wrong("O2.3", "a line that is not UTF-8: %.60q", text)
	case bytes.IndexByte(text, 0) >= 0:
		return nil, wrong("O2.3", "a line with a NUL byte: %.60q", text)
	case len(text) == 0:
		return nil, wrong("O2.1", "a blank line")
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil {
		return nil, wrong("O2.1", "a line that is not one JSON object: %.60q: %v", text, plainly(err))
	}
	if !bytes.Equal(l.text, append(bytes.Clone(text), '\n')) {
		t.s.seen.note("O2.4", "a line that begins with %.20q and ends with %q", l.text, l.text[max(0, len(l.text)-3):])
	}
	return text, nil
}

// plainly returns an error of encoding/json in words for people who may not write Go.
func plainly(err error) error {
	var typed *json.UnmarshalTypeError
	if errors.As(err, &typed) {
		return fmt.Errorf("%s is a JSON %s", orWhole(typed.Field), typed.Value)
	}
	return err
}

func orWhole(field string) string {
	if field == "" {
		return "the value"
	}
	return fmt.Sprintf("%q", field)
}

// errNoManifest is the error of a handshake without a manifest.
var errNoManifest = errors.New(`it has no "manifest"`)

// hello makes the handshake and returns the answer unchecked.
func (t *talk) hello(ctx context.Context, version string, more map[string]any) ([]byte, error) {
	message := map[string]any{"type": "handshake", "protocol_version": version}
	for name, value := range more {
		message[name] = value
	}
	sent := t.send(message, nil)
	text, err := t.line(ctx, t.s.o.Handshake, "the answer to the handshake")
	if err != nil {
		return nil, errors.Join(err, sent)
	}
	t.members("O3.8", text, "type", "manifest")
	var top struct{ Manifest json.RawMessage }
	if json.Unmarshal(text, &top) == nil {
		t.members("O3.8", top.Manifest, "plugin_id", "plugin_version", "protocol_version", "exposed_tools", "capabilities")
	}
	return text, nil
}

// members notes the members of an object that are not of the contract.
func (t *talk) members(clause string, object []byte, known ...string) {
	var members map[string]json.RawMessage
	if json.Unmarshal(object, &members) != nil {
		return
	}
	for name := range members {
		if !slices.Contains(known, name) {
			t.s.seen.note(clause, "%q is no member of the contract, those are %s", name, strings.Join(known, ", "))
		}
	}
}

// toolRequest is a request to a one-shot tool.
type toolRequest struct {
	function string
	input    any
	context  map[string]any
	more     map[string]any     // further members
	write    func([]byte) error // nil: at once
}

// reply is a valid response.
type reply struct {
	Type   string          `json:"type"`
	ID     string          `json:"request_id"`
	Status string          `json:"status"`
	Output json.RawMessage `json:"output"`
	Err    *struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// requestID is the id of every request: each has a separate process.
const requestID = "plugin_req_00000000bento000"

// ask makes a request after the handshake and returns the response. It notes the faults of the response.
func (t *talk) ask(ctx context.Context, q toolRequest) (*reply, error) {
	message := map[string]any{"type": "request", "request_id": requestID, "tool_name": q.function, "context": q.context, "input": q.input}
	for name, value := range q.more {
		message[name] = value
	}
	sent := t.send(message, q.write)
	text, err := t.line(ctx, t.s.o.Within, "the response")
	if err != nil {
		return nil, errors.Join(err, sent)
	}
	var r reply
	if err := plainly(json.Unmarshal(text, &r)); err != nil {
		t.s.seen.note(clauseOf(err), "the response: %v", err)
		return nil, err
	}
	t.members("O4.9", text, "type", "request_id", "status", "output", "error", "metadata")
	return &r, t.check(&r)
}

// clauseOf returns the clause of a member of the wrong type.
func clauseOf(err error) string {
	switch {
	case strings.HasPrefix(err.Error(), `"request_id"`):
		return "O4.2"
	case strings.HasPrefix(err.Error(), `"type"`):
		return "O4.1"
	}
	return "O4.3"
}

func (t *talk) check(r *reply) error {
	wrong := func(clause, format string, args ...any) error {
		t.s.seen.note(clause, format, args...)
		return fmt.Errorf(format, args...)
	}
	switch {
	case r.Type != "response":
		return fmt.Errorf("the type %.60q, want \"response\"", r.Type)
	case r.ID != requestID:
		return wrong("O4.2", "the request_id %.60q, want %q", r.ID, requestID)
	case r.Status != "ok" && r.Status != "error":
		return wrong("O4.3", "the status %.60q, want \"ok\" or \"error\"", r.Status)
	case r.Status == "ok" && r.Err != nil:
		return wrong("O4.3", "the status \"ok\" and an error")
	case r.Status == "error" && (r.Err == nil || strings.TrimSpace(r.Err.Message) == ""):
		return wrong("O4.3", "the status \"error\" and no error with a message")
	case r.Status == "error" && strings.TrimSpace(r.Err.Code) == "":
		t.s.seen.note("O4.8", "an error without a code: %.100s", r.Err.Message)
	}
	return nil
}

// leaves closes stdin after the response, and reports whether the process exited in time. It notes any
// output of the tool after its response.
func (t *talk) leaves(ctx context.Context) bool {
	t.stream.Stdin.Close()
	timer := time.NewTimer(t.s.o.Exit)
	defer timer.Stop()
	inTime := t.drain(ctx, t.stream.Exited, timer.C)
	if !inTime {
		t.stream.End(true)
	}
	rest := time.NewTimer(min(t.s.o.Exit, time.Second)) // a process that was left behind may keep the stream open
	defer rest.Stop()
	t.drain(ctx, nil, rest.C)
	return inTime
}

// drain reads lines, which it notes, until end is closed or stdout has ended; nil is never
// closed. It reports whether that was before late.
func (t *talk) drain(ctx context.Context, end <-chan struct{}, late <-chan time.Time) bool {
	lines := t.lines
	for {
		select {
		case l, ok := <-lines:
			switch {
			case ok:
				t.s.seen.note("O2.2", "after its response it wrote %.60q", l.text)
			case end == nil:
				return true
			default:
				lines = nil
			}
		case <-end:
			return true
		case <-late:
			return false
		case <-ctx.Done():
			return false
		}
	}
}
