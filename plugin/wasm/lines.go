package wasm

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/bentobuild/bento/plugin/wire"
)

// lines passes on the output and the logs of a module, line by line and bounded.
type lines struct {
	to func(line string)

	mu          sync.Mutex
	part        []byte
	cut         bool     // the rest of the line is dropped
	left        int      // bytes that are still passed on
	first, last []string // for tail
	over        int      // lines that were dropped
}

const (
	maxLine   = 16 << 10
	maxLines  = 4 << 20 // bytes of one call; each line is at least 64
	minLine   = 64
	keepFirst = 10 // the first lines of a crash have its cause
	keepLast  = 20
)

func newLines(to func(string)) *lines {
	if to == nil {
		to = func(string) {}
	}
	return &lines{to: to, left: maxLines}
}

// Write takes the standard output and error of the module.
func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for rest := p; len(rest) > 0; {
		line, after, whole := bytes.Cut(rest, []byte("\n"))
		if room := maxLine - len(l.part); len(line) > room {
			line, l.cut = line[:room], true
		}
		l.part, rest = append(l.part, line...), after
		if whole {
			l.flush()
		}
	}
	return len(p), nil
}

// add passes on one line that the module logs.
func (l *lines) add(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pass(line[:min(len(line), maxLine)])
}

func (l *lines) flush() {
	text := string(bytes.TrimSuffix(l.part, []byte("\r")))
	if l.cut {
		text += "…"
	}
	l.part, l.cut = l.part[:0], false
	l.pass(text)
}

func (l *lines) pass(line string) {
	if l.left -= max(len(line), minLine); l.left < 0 {
		l.over++
		return
	}
	line = wire.Plain(line)
	if len(l.first) < keepFirst {
		l.first = append(l.first, line)
	} else if l.last = append(l.last, line); len(l.last) > keepLast {
		l.last = l.last[1:]
	}
	l.to(line)
}

// end passes on the last line, which may have no end, and how much was dropped.
func (l *lines) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.part) > 0 {
		l.flush()
	}
	if l.over > 0 {
		l.to(fmt.Sprintf("%d more lines are left out", l.over))
	}
}

// tail returns the first and the last lines.
func (l *lines) tail() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := slices.Clone(l.first)
	if len(l.last) == keepLast {
		list = append(list, "…")
	}
	list = append(list, l.last...)
	if len(l.part) > 0 {
		list = append(list, wire.Plain(string(l.part)))
	}
	return strings.Join(list, "\n")
}
