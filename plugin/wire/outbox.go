package wire

import (
	"sync"
	"sync/atomic"
)

// outgoing is a message to be written.
type outgoing struct {
	message
	written chan error  // gets the error of writing it; nil for an answer
	dropped atomic.Bool // its caller gave up: it is not written any more
}

// The limits of answers that wait until the other side reads.
const (
	maxAnswers     = 4096
	maxAnswerBytes = 64 << 20 // one larger is accepted alone
	maxRefusals    = 16       // without PeerOptions.Request
)

// outbox holds messages in the order in which they are written. Callers bound the others
// by waiting; answers are bounded here.
type outbox struct {
	more chan struct{} // holds a token when there is something new

	mu     sync.Mutex
	list   []*outgoing
	n, sum int // answers, and their bytes
	closed bool
	full   bool // closed by too many answers
}

// add queues m, and reports whether it will be tried.
func (b *outbox) add(m *outgoing) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return false
	}
	if m.written == nil {
		size := len(m.text())
		if b.n >= maxAnswers || b.n > 0 && b.sum+size > maxAnswerBytes {
			b.closed, b.full = true, true
			return false
		}
		b.n, b.sum = b.n+1, b.sum+size
	}
	b.list = append(b.list, m)
	b.wake()
	return true
}

func (b *outbox) wake() {
	select {
	case b.more <- struct{}{}:
	default:
	}
}

// next returns the next message, nil for none, and whether more may follow.
func (b *outbox) next() (m *outgoing, open bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.list) == 0 {
		b.list = nil
		return nil, !b.closed
	}
	m, b.list[0], b.list = b.list[0], nil, b.list[1:]
	if m.written == nil {
		b.n, b.sum = b.n-1, b.sum-len(m.text())
	}
	return m, true
}

// close accepts no more messages. Queued messages are still written.
func (b *outbox) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	b.wake()
}

// waiting returns how many answers wait.
func (b *outbox) waiting() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.n
}

func (b *outbox) overflowed() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.full
}

// write writes messages until the outbox is closed and empty, then closes the stream.
func (p *Peer) write() {
	defer p.conn.closeWrite()
	var failed error
	for {
		m, open := p.out.next()
		switch {
		case m != nil && !m.dropped.Load():
			if failed == nil {
				p.o.Trace(true, m.text())
				if failed = p.conn.send(m.message); failed != nil {
					p.fail(failed)
				}
			}
			if m.written != nil {
				m.written <- failed
			}
		case m == nil && open:
			<-p.out.more
		case m == nil:
			return
		}
	}
}
