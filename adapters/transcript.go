package adapters

import (
	"bytes"
	"io"
	"strings"
	"sync"
)

// Bounds of what a Transcript keeps.
const (
	maxLogLine = 16 << 10 // bytes; a longer line becomes several events
	tailLines  = 20
)

// Transcript turns the output of a tool into log events, one a line, and keeps the last
// lines for an InstallError. Its two writers may be used from two goroutines.
type Transcript struct {
	mu      sync.Mutex
	log     LogFunc
	streams [2]stream
	tail    []string
}

// NewTranscript returns a transcript that calls log, which may be nil.
func NewTranscript(log LogFunc) *Transcript {
	t := &Transcript{log: log}
	t.streams = [2]stream{{t: t, name: "stdout"}, {t: t, name: "stderr"}}
	return t
}

// Stdout returns the writer for the tool's standard output.
func (t *Transcript) Stdout() io.Writer { return &t.streams[0] }

// Stderr returns the writer for the tool's standard error.
func (t *Transcript) Stderr() io.Writer { return &t.streams[1] }

// Close logs the rest of a last line without an end. The writers must not be used any more.
func (t *Transcript) Close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range t.streams {
		t.streams[i].flush()
	}
}

// Tail returns the last lines of both streams.
func (t *Transcript) Tail() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.Join(t.tail, "\n")
}

type stream struct {
	t    *Transcript
	name string
	line []byte // an unfinished line
}

// Write never fails.
func (s *stream) Write(p []byte) (int, error) {
	s.t.mu.Lock()
	defer s.t.mu.Unlock()
	rest := p
	for {
		// A progress bar ends its line with a carriage return.
		i := bytes.IndexAny(rest, "\r\n")
		if i < 0 {
			break
		}
		s.add(rest[:i])
		s.flush()
		rest = rest[i+1:]
	}
	s.add(rest)
	return len(p), nil
}

// add appends to the unfinished line and logs what exceeds its bound.
func (s *stream) add(text []byte) {
	for len(s.line)+len(text) > maxLogLine {
		n := maxLogLine - len(s.line)
		s.line = append(s.line, text[:n]...)
		text = text[n:]
		s.flush()
	}
	s.line = append(s.line, text...)
}

func (s *stream) flush() {
	text := strings.ToValidUTF8(strings.TrimRight(string(s.line), " \t"), "\uFFFD")
	s.line = s.line[:0]
	if text == "" {
		return
	}
	if len(s.t.tail) == tailLines {
		s.t.tail = append(s.t.tail[:0], s.t.tail[1:]...)
	}
	s.t.tail = append(s.t.tail, text)
	if s.t.log != nil {
		s.t.log(Log{Level: "info", Stream: s.name, Message: text})
	}
}
