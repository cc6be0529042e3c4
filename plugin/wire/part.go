package wire

import (
	"bufio"
	"bytes"
	"fmt"
	"sync"
)

// part is what has come of a message that is not all there. It is written by who reads,
// and only where that has to wait: what comes in one piece costs nothing.
type part struct {
	told bool // by who reads: there is something to forget

	mu           sync.Mutex
	head         []byte // of the header, or of its line that is not complete
	lines        bool   // lines of the header came before
	have, length int    // of the body; 0 of 0 while there is none
}

// header notes what has come of a header line, after lines or as the first.
func (p *part) header(begun []byte, lines bool) {
	p.set(begun[:min(len(begun), preview)], lines, 0, 0)
}

// body notes that so much of the body has come.
func (p *part) body(have, length int) { p.set(nil, false, have, length) }

// whole notes that nothing of another message is known.
func (p *part) whole() {
	if p.told {
		p.set(nil, false, 0, 0)
		p.told = false
	}
}

func (p *part) set(head []byte, lines bool, have, length int) {
	p.told = true
	p.mu.Lock()
	defer p.mu.Unlock()
	p.head, p.lines = append(p.head[:0], head...), lines
	p.have, p.length = have, length
}

// String says what has come, "" for nothing.
func (p *part) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.length > 0:
		return fmt.Sprintf("%d of %d bytes of a message had come; is Content-Length right?", p.have, p.length)
	case len(p.head) > 0:
		return fmt.Sprintf("%q had come, and no end of that line", p.head)
	case p.lines:
		return "a header had come, and no empty line after it"
	}
	return ""
}

// awaitLine waits until a header line can be read, or something is wrong with it.
func (p *part) awaitLine(br *bufio.Reader, first bool) {
	for {
		begun, _ := br.Peek(br.Buffered())
		if bytes.IndexByte(begun, '\n') >= 0 || len(begun) == br.Size() {
			return
		}
		if len(begun) > 0 || !first {
			p.header(begun, !first)
		}
		if _, err := br.Peek(len(begun) + 1); err != nil {
			return
		}
	}
}
