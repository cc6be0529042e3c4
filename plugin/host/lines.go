package host

import (
	"bytes"
	"sync"
)

// Lines is a writer that passes its input on line by line. It is safe for concurrent use.
type Lines struct {
	// To gets each line without its end, one at a time. It must not keep the bytes.
	To  func(line []byte)
	Max int // bytes of a line: a longer one is cut into several

	mu   sync.Mutex
	open []byte // the line that has no end yet
}

// Write never fails: a plugin must not end because its output cannot be kept.
func (l *Lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for rest := p; len(rest) > 0; {
		line, after, ended := bytes.Cut(rest, []byte("\n"))
		if room := l.Max - len(l.open); len(line) > room {
			line, after, ended = rest[:room], rest[room:], true
		}
		l.open = append(l.open, line...)
		if rest = after; ended {
			l.To(l.open)
			l.open = l.open[:0]
		}
	}
	return len(p), nil
}

// Flush passes on a last line without an end.
func (l *Lines) Flush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.open) > 0 {
		l.To(l.open)
		l.open = l.open[:0]
	}
}
