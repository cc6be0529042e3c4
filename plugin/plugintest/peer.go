package plugintest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/bentobuild/bento/plugin/host"
	"github.com/bentobuild/bento/plugin/wire"
)

// peer is one process of the plugin without the host. It is for one goroutine.
type peer struct {
	s      *suite
	clause string // of the test, "" for the first handshake
	stream *host.Stream
	said   *host.Tail // of its standard error
	conn   *wire.Conn
	status func() string // waits for the end of the process and returns its status
	raw    *recorder

	incoming chan incoming
	quit     chan struct{} // closed when incoming is no longer read
	reading  sync.WaitGroup

	id   int64                  // of the last request
	open map[int64]bool         // requests without a response
	came map[int64]wire.Message // responses that were not awaited yet
	gone error                  // the error that ended the stream
	// notified is the fault in how notifications were handled.
	notified error
	logs     []json.RawMessage // params of the log notifications so far
}

// incoming is a message, or the error that was the last of the stream.
type incoming struct {
	m   wire.Message
	err error
}

// lastWords is how many bytes of standard error are kept of a process.
const lastWords = 1 << 10

// maxDepth is the nesting that bento accepts.
const maxDepth = 64

// launch starts a process of the plugin for the test of a clause.
func (s *suite) launch(ctx context.Context, clause string) (*peer, error) {
	said := host.NewTail(lastWords, s.o.Stderr)
	stream, err := s.launcher().Launch(ctx, said)
	if err != nil {
		return nil, err
	}
	p := &peer{
		s: s, clause: clause, stream: stream, said: said, raw: &recorder{r: stream.Stdout},
		status:   sync.OnceValue(stream.Wait),
		incoming: make(chan incoming), quit: make(chan struct{}),
		open: make(map[int64]bool), came: make(map[int64]wire.Message),
	}
	p.conn = wire.NewConn(p.raw, stream.Stdin, wire.Limits{Send: s.o.Within})
	p.reading.Go(p.read)
	return p, nil
}

func (p *peer) read() {
	for {
		var in incoming
		body, err := p.conn.Recv()
		if in.err = err; err == nil {
			p.trace(false, body)
			in.m, in.err = wire.ParseMessage(body, maxDepth)
			in.err = p.conn.Miscounted(body, in.err)
		}
		select {
		case p.incoming <- in:
		case <-p.quit:
			return
		}
		if in.err != nil {
			return
		}
	}
}

// end ends the process and records the faults that it showed.
func (p *peer) end() {
	close(p.quit)
	p.stream.End(true)
	p.status()
	p.conn.Close()
	p.reading.Wait()
	if p.raw.oddHeader() {
		p.s.seen.in(p.clause, "2.2", "a header line that ends with LF alone")
	}
}

// result makes a request and returns the result. Any other response is an error.
func (p *peer) result(ctx context.Context, method string, params any) (json.RawMessage, error) {
	m, err := p.ask(ctx, method, params)
	if err != nil {
		return nil, err
	}
	if m.Error != nil {
		return nil, fmt.Errorf("%s: %w", method, m.Error)
	}
	return m.Result, nil
}

// ask makes a request and returns the response.
func (p *peer) ask(ctx context.Context, method string, params any) (wire.Message, error) {
	if err := p.send(p.request(method, params, nil)); err != nil {
		return wire.Message{}, p.deaf(ctx, method, err)
	}
	return p.await(ctx, method, p.id)
}

// trace passes a body, or the bytes of a malformed message, to the observer.
func (p *peer) trace(sent bool, body []byte) {
	if p.s.o.Frame != nil {
		p.s.o.Frame(p.clause, sent, body)
	}
}

// send sends a body as one message.
func (p *peer) send(body []byte) error {
	p.trace(true, body)
	return p.conn.Send(body)
}

// write writes raw bytes.
func (p *peer) write(bytes []byte) error {
	p.trace(true, bytes)
	_, err := p.stream.Stdin.Write(bytes)
	return err
}

// request returns a request with the next id, and with more members if more is set.
func (p *peer) request(method string, params any, more map[string]any) []byte {
	p.id++
	p.open[p.id] = true
	m := map[string]any{"jsonrpc": "2.0", "id": p.id, "method": method}
	if params != nil {
		m["params"] = params
	}
	for name, value := range more {
		m[name] = value
	}
	return encoded(m)
}

func encoded(message any) []byte {
	body, err := json.Marshal(message)
	if err != nil {
		panic(err) // it is ours
	}
	return body
}

// frame puts a header in front of a body.
func frame(header string, body []byte) []byte {
	return append(fmt.Appendf(nil, header, len(body)), body...)
}

const plainHeader = "Content-Length: %d\r\n\r\n"

// deaf returns the error of a request that could not be written, which the last message of
// the plugin explains best.
func (p *peer) deaf(ctx context.Context, method string, err error) error {
	if _, last := p.await(ctx, method, -1); p.gone != nil {
		return last
	}
	return fmt.Errorf("%s cannot be sent: %w", method, err)
}

// await waits for the response with this id.
func (p *peer) await(ctx context.Context, method string, id int64) (wire.Message, error) {
	timer := time.NewTimer(p.s.o.Within)
	defer timer.Stop()
	for p.gone == nil {
		if m, ok := p.came[id]; ok {
			return m, nil
		}
		select {
		case in := <-p.incoming:
			if err := p.take(in, id); err != nil {
				return wire.Message{}, fmt.Errorf("%s: %w", method, err)
			}
		case <-timer.C:
			return wire.Message{}, fmt.Errorf("timed out after %v: no answer to %s%s", p.s.o.Within, method, p.unfinished())
		case <-ctx.Done():
			return wire.Message{}, ctx.Err()
		}
	}
	return wire.Message{}, fmt.Errorf("%s: %w", method, p.gone)
}

// take handles a message while the response with this id is awaited. The error is that of
// the stream, or of a message that seems to be the response.
func (p *peer) take(in incoming, id int64) error {
	if in.err != nil {
		p.gone = p.ended(in.err)
		return p.gone
	}
	number, ok := in.m.Number()
	switch in.m.Kind {
	case wire.Response:
		switch {
		case ok && p.open[number]:
			delete(p.open, number)
			p.came[number] = in.m
		case ok && number > 0 && number <= p.id:
			p.s.seen.in(p.clause, "3.2", "a second response with the id %d", number)
		case ok && number == noRequest:
			p.notified = errors.New("the notification " + wire.NotifyCancel + " was answered")
		default:
			p.s.seen.in(p.clause, "3.1", "a response with the id %.40s, the last request had %d", in.m.ID, p.id)
		}
	case wire.Notification:
		if p.s.seen.notification(p.clause, &in.m) {
			p.logs = append(p.logs, in.m.Params)
		}
	case wire.Request:
		p.s.seen.in(p.clause, "3.7", "a request %.60q", in.m.Method)
	case wire.Invalid:
		p.s.seen.in(p.clause, "3.1", "%s", in.m.Why)
		if ok && number == id {
			return errors.New(in.m.Why)
		}
	}
	return nil
}

// ended returns why the stream ended.
func (p *peer) ended(err error) error {
	if errors.Is(err, wire.ErrMalformed) {
		p.s.seen.in(p.clause, "2.1", "%v", err)
		return err
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		p.s.seen.in(p.clause, "2.1", "%v", err)
	}
	if !p.exits(time.Second) {
		return errors.New("it closed its standard output")
	}
	return fmt.Errorf("it exited (%s)%s", p.status(), p.words())
}

// words returns the last lines of standard error, which name the cause of most ends, without those
// that only underline.
func (p *peer) words() string {
	var lines []string
	for line := range strings.Lines(wire.Plain(p.said.String())) {
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
func (p *peer) unfinished() string {
	if part := p.conn.Unfinished(); part != "" {
		return "; " + part
	}
	return ""
}

// exits reports whether the process ends within this time.
func (p *peer) exits(within time.Duration) bool {
	timer := time.NewTimer(within)
	defer timer.Stop()
	select {
	case <-p.stream.Exited:
		return true
	case <-timer.C:
		return false
	}
}

// rest reads messages until the stream ends.
func (p *peer) rest(ctx context.Context) {
	_, _ = p.await(ctx, "", -1)
}
