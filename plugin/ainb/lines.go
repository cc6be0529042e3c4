package ainb

import (
	"bytes"
	"sync"
)

// maxLine is the largest line of a log, in bytes. A longer one is cut in several.
const maxLine = 16 << 10

// lines is a writer that passes its input on line by line.
type lines struct {
	to func(text string)

	mu   sync.Mutex
	rest []byte
}

// Write never fails.
func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := len(p)
	for len(p) > 0 {
		line, rest, ended := bytes.Cut(p, []byte("\n"))
		if room := maxLine - len(l.rest); len(line) > room {
			line, rest, ended = p[:room], p[room:], true
		}
		l.rest, p = append(l.rest, line...), rest
		if ended {
			l.pass()
		}
	}
	return n, nil
}

func (l *lines) pass() {
	l.to(string(bytes.ToValidUTF8(bytes.TrimSuffix(l.rest, []byte("\r")), []byte("\uFFFD"))))
	l.rest = l.rest[:0]
}

// flush passes on a last line without an end.
func (l *lines) flush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.rest) > 0 {
		l.pass()
	}
}
