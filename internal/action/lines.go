package action

import (
	"io"
	"regexp"
	"sync"
)

// maxLine bounds how much of a line is looked at.
const maxLine = 64 << 10

// Lines waits for a line that matches an expression in what is printed. It is safe for concurrent
// use.
type Lines struct {
	pattern *regexp.Regexp // nil: nothing is waited for
	mu      sync.Mutex
	line    []byte // the last one, as far as it has come
	seen    chan struct{}
	once    sync.Once
}

// NewLines returns Lines for an expression that the configuration has checked, or for none.
func NewLines(pattern string) *Lines {
	l := &Lines{seen: make(chan struct{})}
	if pattern != "" {
		l.pattern, _ = regexp.Compile(pattern)
	}
	return l
}

// Matched reports whether a line has matched.
func (l *Lines) Matched() bool {
	select {
	case <-l.seen:
		return true
	default:
		return false
	}
}

// Noting returns w, read along if something is waited for.
func (l *Lines) Noting(w io.Writer) io.Writer {
	if l.pattern == nil {
		return w
	}
	return noting{w, l}
}

// noting shows lines what is written.
type noting struct {
	io.Writer
	lines *Lines
}

func (n noting) Write(p []byte) (int, error) {
	n.lines.note(p)
	return n.Writer.Write(p)
}

func (l *Lines) note(data []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range data {
		if c != '\n' {
			if len(l.line) < maxLine {
				l.line = append(l.line, c)
			}
			continue
		}
		l.match()
		l.line = l.line[:0]
	}
	l.match() // a prompt has no end of line
}

func (l *Lines) match() {
	if len(l.line) > 0 && l.pattern.Match(l.line) {
		l.once.Do(func() { close(l.seen) })
	}
}
