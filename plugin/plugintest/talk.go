package plugintest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/bentobuild/bento/plugin/host"
	"github.com/bentobuild/bento/plugin/wire"
)

// talk is one process of a plugin without the host, and the conversation with it: messages of JSON-RPC in
// frames, or lines. It is for one goroutine.
type talk struct {
	*lab
	clause string // of the test, "" for the first handshake
	stream *host.Stream
	stderr *host.Tail    // of its standard error; nil for none
	status func() string // waits for the end of the process and returns its status
	atEnd  func()        // called when nothing more comes; may be nil
	lines  *lines        // of a contract of lines
	closes string        // what a process closes that still runs; "" for its standard output

	writing sync.Mutex // one message at a time
	reading sync.WaitGroup
	answers chan []byte   // of bento, to requests of the plugin, that are not written yet
	news    chan struct{} // holds a token when a message has come

	// Of a contract of frames, see read.
	conn *wire.Conn
	// judge receives each message that is no answer to a request of bento, and each that is invalid,
	// on the reading goroutine, which it must not block.
	judge func(m *wire.Message)
	// malformed is the clause of bytes that are no message.
	malformed string

	mu    sync.Mutex
	last  int64               // id of a request
	asked map[string]string   // the methods of the requests, by id
	came  map[string]received // their answers
	notes []json.RawMessage   // params of the notifications since the last answer
	gone  error               // why nothing more comes
	known bool                // it has introduced itself, where the contract has that
}

// received is the answer to a request, or why it is none.
type received struct {
	m     wire.Message
	err   error
	notes []json.RawMessage // the first of those before it
}

const (
	maxDepth   = 64 // nesting that bento accepts
	maxNotes   = 100
	maxAnswers = 4096 // that wait until the plugin reads
)

// begin starts a process for the test of a clause.
func (l *lab) begin(ctx context.Context, clause string, launcher host.Launcher, stderr io.Writer) (*talk, error) {
	stream, err := launcher.Launch(ctx, stderr)
	if err != nil {
		return nil, fmt.Errorf("it cannot be started: %w", err)
	}
	return l.with(clause, stream), nil
}

// with returns the conversation with a process that has started.
func (l *lab) with(clause string, stream *host.Stream) *talk {
	return &talk{
		lab: l, clause: clause, stream: stream, status: sync.OnceValue(stream.Wait),
		asked: make(map[string]string), came: make(map[string]received), news: make(chan struct{}, 1),
	}
}

// read begins to read frames. Invalid messages and those that nobody awaits are judged.
func (t *talk) read(limits wire.Limits, malformed string, judge func(m *wire.Message)) {
	t.judge, t.malformed, t.answers = judge, malformed, make(chan []byte, maxAnswers)
	t.conn = wire.NewConn(t.stream.Stdout, t.stream.Stdin, limits)
	replied := make(chan struct{}, 1)
	var answering sync.WaitGroup
	answering.Go(func() {
		for range replied {
			_ = t.put(nil, nil) // it may have ended
		}
	})
	t.reading.Go(func() {
		for t.next() {
			wake(replied)
		}
		close(replied)
		answering.Wait()
	})
}

// next reads one message, and reports whether another may follow.
func (t *talk) next() bool {
	var m wire.Message
	body, err := t.conn.Recv()
	if err == nil {
		t.trace(false, body)
		m, err = wire.ParseMessage(body, maxDepth)
		err = t.conn.Miscounted(body, err)
	}
	switch {
	case errors.Is(err, wire.ErrMalformed):
		t.note(t.malformed, "%v", err)
		defer t.hangUp()
	case err == nil && (!t.take(&m) || m.Kind == wire.Invalid):
		t.judge(&m)
	}
	t.mu.Lock()
	t.gone = err
	t.mu.Unlock()
	wake(t.news)
	return err == nil
}

// wake puts a token into a channel that has room for one.
func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// take keeps the answer to a request, and reports whether m is one. An answer without a number is none, but
// the request fails at once: one with the id as text, and an error with the id null.
func (t *talk) take(m *wire.Message) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	id := string(m.ID)
	if number, ok := m.Number(); ok {
		id = strconv.FormatInt(number, 10)
	}
	answer := received{m: *m, notes: t.notes}
	switch bare := strings.Trim(id, `"`); {
	case m.Kind == wire.Notification && len(t.notes) < maxNotes:
		t.notes = append(t.notes, m.Params)
	case m.Kind != wire.Response && (m.Kind != wire.Invalid || m.Method != ""):
	case t.open(id):
		if m.Kind == wire.Invalid {
			answer.err = errors.New(m.Why)
		}
		t.came[id], t.notes = answer, nil
		return true
	case id == "null" && m.Error != nil:
		answer.err = m.Error
		for id := range t.asked {
			if t.open(id) {
				t.came[id] = answer
			}
		}
	case t.open(bare):
		answer.err = fmt.Errorf("the response has the id %s, the request had %s", id, bare)
		t.came[bare] = answer
	}
	return false
}

// open reports whether a request has no answer yet.
func (t *talk) open(id string) bool {
	_, asked := t.asked[id]
	_, answered := t.came[id]
	return asked && !answered
}

// lastID returns the id of the last request.
func (t *talk) lastID() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.last
}

// id returns the id of the last request as text.
func (t *talk) id() string { return strconv.FormatInt(t.last, 10) }

// expect makes a response with this id the answer to a request.
func (t *talk) expect(id, method string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.asked[id] = method
}

// answered reports whether a request of a method has its answer.
func (t *talk) answered(method string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for id := range t.came {
		if t.asked[id] == method {
			return true
		}
	}
	return false
}

// note notes a fault in a message.
func (t *talk) note(clause, format string, args ...any) {
	t.seen.note(t.clause, clause, format, args...)
}

// end ends the process.
func (t *talk) end() {
	if t.lines != nil {
		close(t.lines.quit)
	}
	t.stream.End(true)
	t.status()
	t.hangUp()
	t.reading.Wait()
	if t.atEnd != nil {
		t.atEnd()
	}
}

// hangUp closes both streams.
func (t *talk) hangUp() {
	t.stream.Stdin.Close()
	t.stream.Stdout.Close()
}

// trace passes a body, or the bytes of a malformed message, to the observers.
func (t *talk) trace(sent bool, body []byte) {
	t.frames.add(t.clause, sent, body)
	if t.Frame != nil {
		t.Frame(t.clause, sent, body)
	}
}

// put writes bytes by write, which is the stream's unless it is set, after the answers that wait. A process
// may not read, so that has a timeout.
func (t *talk) put(data []byte, write func([]byte) error) error {
	t.writing.Lock()
	defer t.writing.Unlock()
	timer := time.AfterFunc(t.Within, t.hangUp)
	if write == nil {
		write = t.push
	}
	err := t.pushAnswers()
	if err == nil && data != nil {
		err = write(data)
	}
	if !timer.Stop() && err != nil {
		return wire.ErrSendTimeout
	}
	return err
}

func (t *talk) push(data []byte) error {
	_, err := t.stream.Stdin.Write(data)
	return err
}

func (t *talk) pushAnswers() error {
	for {
		select {
		case body := <-t.answers:
			t.trace(true, body)
			if err := t.push(frame(plainHeader, body)); err != nil {
				return err
			}
		default:
			return nil
		}
	}
}

// pieces returns the function that writes a few bytes at a time. They join in the pipe only if the process
// is slow.
func (t *talk) pieces(ctx context.Context, size int) func([]byte) error {
	return func(data []byte) error {
		for len(data) > size {
			if err := t.push(data[:size]); err != nil {
				return err
			}
			data = data[size:]
			if err := pause(ctx, 5*time.Millisecond); err != nil {
				return err
			}
		}
		return t.push(data)
	}
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// ended returns why the stream ended.
func (t *talk) ended(err error) error {
	if errors.Is(err, wire.ErrMalformed) {
		return err
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		t.note(t.malformed, "%v", err)
	}
	if !t.exits(time.Second) {
		return fmt.Errorf("it closed %s", cmp.Or(t.closes, "its standard output"))
	}
	return fmt.Errorf("it exited (%s)%s", t.status(), t.words())
}

// words returns the last lines of standard error, which name the cause of most ends, without those
// that only underline.
func (t *talk) words() string {
	if t.stderr == nil {
		return ""
	}
	var lines []string
	for line := range strings.Lines(wire.Plain(t.stderr.String())) {
		if line = strings.TrimSpace(line); strings.Trim(line, "^~ ") != "" {
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 {
		return ""
	}
	return "; its last words: " + strings.Join(lines[max(0, len(lines)-2):], " / ")
}

// unfinished describes the received part of a message.
func (t *talk) unfinished() string {
	if part := t.conn.Unfinished(); part != "" {
		return "; " + part
	}
	return ""
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
