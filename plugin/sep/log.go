package sep

import (
	"bytes"
	"io"
	"sync"

	"github.com/bentobuild/bento/plugin/wire"
)

// The bounds of the log of one extension.
const (
	maxLogBytes = 256 << 10
	maxLogLines = 2000
	maxLogLine  = 8 << 10 // a longer one is cut into several
)

// Log keeps the last lines of the output of an extension: at most 2,000 lines and 256 KiB. It is safe for
// concurrent use. The zero value is empty.
type Log struct {
	// Next gets all that is written, before it is cut, one write at a time; nil for none.
	Next io.Writer

	order sync.Mutex // of the writes to Next

	mu    sync.Mutex
	lines [][]byte
	bytes int
	open  []byte // the line that has no end yet
}

// Write never fails: an extension must not end because its log cannot be kept.
func (l *Log) Write(p []byte) (int, error) {
	if l.Next != nil {
		l.order.Lock()
		_, _ = l.Next.Write(p)
		l.order.Unlock()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for rest := p; len(rest) > 0; {
		line, after, ended := bytes.Cut(rest, []byte("\n"))
		if room := maxLogLine - len(l.open); len(line) > room {
			line, after, ended = rest[:room], rest[room:], true
		}
		l.open = append(l.open, line...)
		if rest = after; ended {
			l.add(l.open)
			l.open = nil
		}
	}
	return len(p), nil
}

func (l *Log) add(line []byte) {
	l.lines = append(l.lines, line)
	l.bytes += len(line) + 1
	for len(l.lines) > maxLogLines || l.bytes > maxLogBytes {
		l.bytes -= len(l.lines[0]) + 1
		l.lines[0] = nil
		l.lines = l.lines[1:]
	}
}

// Lines returns the kept lines, oldest first, without characters that steer a terminal.
func (l *Log) Lines() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := make([]string, 0, len(l.lines)+1)
	for _, line := range l.lines {
		list = append(list, wire.Plain(string(line)))
	}
	if len(l.open) > 0 {
		list = append(list, wire.Plain(string(l.open)))
	}
	return list
}
