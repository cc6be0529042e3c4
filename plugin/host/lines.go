package host

import (
	"bytes"
	"sync"
)

// Lines is a writer that passes its input on line by line. It is safe for concurrent use.
type Lines struct {
	// To gets each line as valid UTF-8 without its end, one at a time; nil discards them.
	To  func(line string)
	Max int // bytes of a line: a longer one is cut into several

	mu     sync.Mutex
	open   []byte // the line that has no end yet
	closed bool
}

// Write never fails: a plugin must not end because its output cannot be kept.
func (l *Lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.To == nil || l.closed {
		return len(p), nil
	}
	for rest := p; len(rest) > 0; {
		line, after, ended := bytes.Cut(rest, []byte("\n"))
		if room := l.Max - len(l.open); len(line) > room {
			line, after, ended = rest[:room], rest[room:], true
		}
		l.open = append(l.open, line...)
		if rest = after; ended {
			l.pass()
		}
	}
	return len(p), nil
}

func (l *Lines) pass() {
	l.To(string(bytes.ToValidUTF8(bytes.TrimSuffix(l.open, []byte("\r")), []byte("\uFFFD"))))
	l.open = l.open[:0]
}

// Flush passes on a last line without an end.
func (l *Lines) Flush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.open) > 0 {
		l.pass()
	}
}

// Close is Flush, after which nothing is passed on.
func (l *Lines) Close() {
	l.Flush()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
}
