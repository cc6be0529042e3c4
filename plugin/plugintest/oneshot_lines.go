package plugintest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/bentobuild/bento/plugin/host"
)

// longest is the size limit of a line, in bytes, with some white space around it.
const longest = 1<<20 + 64

// lines are the lines of a process.
type lines struct {
	come chan rawLine  // closed at the end of stdout
	quit chan struct{} // closed when lines are no longer read
}

// rawLine is a line with its end, or a line that is too long.
type rawLine struct {
	text []byte
	long bool
}

func (s *oneshotSuite) launchTool(ctx context.Context, clause string) (*talk, error) {
	t, err := s.begin(ctx, clause, &host.Command{Argv: s.argv, SHA256: s.o.SHA256, Dir: s.o.Dir, Env: s.Env, Sandbox: s.o.Sandbox}, s.Stderr)
	if err != nil {
		return nil, err
	}
	t.lines = &lines{come: make(chan rawLine), quit: make(chan struct{})}
	t.reading.Go(t.readLines)
	return t, nil
}

func (t *talk) readLines() {
	defer close(t.lines.come)
	br := bufio.NewReaderSize(t.stream.Stdout, longest)
	for {
		text, err := br.ReadSlice('\n')
		if len(text) > 0 {
			select {
			case t.lines.come <- rawLine{bytes.Clone(text), errors.Is(err, bufio.ErrBufferFull)}:
			case <-t.lines.quit:
				return
			}
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return
		}
	}
}

// sendLine writes a line, by write unless that is nil.
func (t *talk) sendLine(message any, write func([]byte) error) error {
	text := append(encoded(message), '\n')
	t.trace(true, text[:len(text)-1])
	return t.put(text, write)
}

// line waits for a line and returns its object.
func (t *talk) line(ctx context.Context, within time.Duration, what string) ([]byte, error) {
	timer := time.NewTimer(within)
	defer timer.Stop()
	exited, held := t.stream.Exited, (<-chan time.Time)(nil)
	for {
		select {
		case l, ok := <-t.lines.come:
			if !ok {
				return nil, t.endedBefore(what)
			}
			t.trace(false, bytes.TrimSpace(l.text))
			return t.object(l)
		case <-exited: // a process that it left behind may keep the stream open
			exited, held = nil, time.After(time.Second)
		case <-held:
			return nil, t.endedBefore(what)
		case <-timer.C:
			return nil, fmt.Errorf("timed out after %v: no line with %s", within, what)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// endedBefore returns the error of a stdout that ended in place of a line.
func (t *talk) endedBefore(what string) error {
	if !t.exits(time.Second) {
		return fmt.Errorf("it closed its standard output before %s", what)
	}
	return fmt.Errorf("it ended before %s (%s)", what, t.status())
}

// wrong returns a fault, which it notes.
func (t *talk) wrong(clause, format string, args ...any) error {
	t.note(clause, format, args...)
	return fmt.Errorf(format, args...)
}

// object returns the object of a line, and notes the faults of the line.
func (t *talk) object(l rawLine) ([]byte, error) {
	text := bytes.TrimSpace(l.text)
	switch {
	case l.long || len(text) > 1<<20:
		return nil, t.wrong("O2.1", "a line of more than %d bytes", 1<<20)
	case bytes.HasPrefix(text, []byte("\ufeff")):
		return nil, t.wrong("O2.3", "a line with a byte order mark")
	case !utf8.Valid(text):
		return nil, t.wrong("O2.3", "a line that is not UTF-8: %.60q", text)
	case bytes.IndexByte(text, 0) >= 0:
		return nil, t.wrong("O2.3", "a line with a NUL byte: %.60q", text)
	case len(text) == 0:
		return nil, t.wrong("O2.1", "a blank line")
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil {
		return nil, t.wrong("O2.1", "a line that is not one JSON object: %.60q: %v", text, plainly(err))
	}
	if !bytes.Equal(l.text, append(bytes.Clone(text), '\n')) {
		t.note("O2.4", "a line that begins with %.20q and ends with %q", l.text, l.text[max(0, len(l.text)-3):])
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

// leaves closes stdin after the response, and reports whether the process exited in time. It notes any
// output of the tool after its response.
func (t *talk) leaves(ctx context.Context) bool {
	t.stream.Stdin.Close()
	timer := time.NewTimer(t.Exit)
	defer timer.Stop()
	inTime := t.drain(ctx, t.stream.Exited, timer.C)
	if !inTime {
		t.stream.End(true)
	}
	rest := time.NewTimer(min(t.Exit, time.Second)) // a process that was left behind may keep the stream open
	defer rest.Stop()
	t.drain(ctx, nil, rest.C)
	return inTime
}

// drain reads lines, which it notes, until end is closed or stdout has ended; nil is never
// closed. It reports whether that was before late.
func (t *talk) drain(ctx context.Context, end <-chan struct{}, late <-chan time.Time) bool {
	come := t.lines.come
	for {
		select {
		case l, ok := <-come:
			switch {
			case ok:
				t.note("O2.2", "after its response it wrote %.60q", l.text)
			case end == nil:
				return true
			default:
				come = nil
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

// over reports whether stdout has ended.
func (t *talk) over() bool {
	select {
	case _, ok := <-t.lines.come:
		return !ok
	default:
		return false
	}
}
