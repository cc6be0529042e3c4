package action

import (
	"bytes"
	"io"
	"regexp"
	"sync"

	"github.com/bentobuild/bento/diagnostics"
)

// maxLine is the number of bytes of a line that are matched.
const maxLine = 64 << 10

// Lines finds a line of output that matches an expression. It is safe for concurrent use.
type Lines struct {
	pattern *regexp.Regexp // nil: no line is searched for
	mu      sync.Mutex
	line    []byte // the last line, which may be incomplete
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

// Noting returns a writer to w that also matches the lines, or w itself if there is no expression.
func (l *Lines) Noting(w io.Writer) io.Writer {
	if l.pattern == nil {
		return w
	}
	return noting{w, l}
}

// noting is a writer that also passes its data to lines.
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

// match matches the line as it was printed, and without its colours.
func (l *Lines) match() {
	if len(l.line) > 0 && (l.pattern.Match(l.line) ||
		bytes.IndexByte(l.line, '\x1b') >= 0 && l.pattern.MatchString(diagnostics.Unescaped(string(l.line)))) {
		l.once.Do(func() { close(l.seen) })
	}
}
