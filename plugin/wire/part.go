package wire

import (
	"bufio"
	"bytes"
	"fmt"
	"sync"
)

// part is the received part of an incomplete message. The reader writes it only when it has
// to wait: a message in one piece costs nothing.
type part struct {
	known bool // for the reader: some part is set
	bare  bool // for the reader: a header line ended with LF alone, in any message

	mu           sync.Mutex
	head         []byte // of the header, or of its incomplete line
	lines        bool   // lines of the header came before
	have, length int    // of the body; 0 of 0 before it
}

// header records the received part of a header line.
func (p *part) header(begun []byte, lines bool) {
	p.set(begun[:min(len(begun), preview)], lines, 0, 0)
}

// body records the received part of the body.
func (p *part) body(have, length int) { p.set(nil, false, have, length) }

// whole records that a message is complete.
func (p *part) whole() {
	if p.known {
		p.set(nil, false, 0, 0)
		p.known = false
	}
}

func (p *part) set(head []byte, lines bool, have, length int) {
	p.known = true
	p.mu.Lock()
	defer p.mu.Unlock()
	p.head, p.lines = append(p.head[:0], head...), lines
	p.have, p.length = have, length
}

// String describes the received part, or returns "".
func (p *part) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.length > 0:
		return fmt.Sprintf("read %d of %d bytes of a message; is Content-Length right?", p.have, p.length)
	case len(p.head) > 0:
		return fmt.Sprintf("read %q without the end of that line", p.head)
	case p.lines:
		return "read a header without the empty line after it"
	}
	return ""
}

// awaitLine waits until a header line can be read, or is malformed.
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
