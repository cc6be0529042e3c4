package wire

import (
	"sync"
	"time"
)

// To change goroutines costs a short call more than all the rest of it. So the one
// that waits for an answer reads for it, where nobody else reads. For a while after
// an answer nobody does: the next call often follows at once. Then the client's own
// reader takes over again. (Where a write may have to wait, somebody else has to read
// meanwhile, and the client's own reader does that all the time.)

// idleTime is that while, or up to twice of it. So long the end of a stream can go
// unnoticed.
const idleTime = 2 * time.Millisecond

// turn is the right to read, which one goroutine has at a time.
type turn struct {
	free   chan struct{} // holds a token while nobody reads
	resume chan struct{} // wakes the client's own reader

	mu    sync.Mutex
	timer *time.Timer // looks whether the turn has been taken meanwhile
	armed bool
	taken bool // since the timer was armed
}

func newTurn() *turn {
	t := &turn{free: make(chan struct{}, 1), resume: make(chan struct{}, 1), armed: true}
	t.free <- struct{}{}
	t.timer = time.AfterFunc(0, t.look)
	return t
}

// take takes the turn, and tells whether it was free.
func (t *turn) take() bool {
	select {
	case <-t.free:
		return true
	default:
		return false
	}
}

// given sees to it that somebody reads after the turn was given back: the client's
// own reader at once where somebody waits for an answer, else soon. A timer that is
// set for each call would cost as much as the call.
func (t *turn) given(waited bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.taken = true
	switch {
	case waited:
		t.wake()
	case !t.armed:
		t.arm()
	}
}

func (t *turn) arm() {
	t.armed, t.taken = true, false
	t.timer.Reset(idleTime)
}

func (t *turn) look() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.taken {
		t.arm()
	} else {
		t.armed = false
		t.wake()
	}
}

func (t *turn) wake() {
	select {
	case t.resume <- struct{}{}:
	default:
	}
}

// read is the client's own reader. It lives until the stream ends.
func (c *Client) read() {
	for {
		select {
		case <-c.done:
			return
		case <-c.turn.resume:
		}
		if !c.turn.take() {
			continue // who has it will give it back
		}
		for answered := false; !answered || c.conn.now == nil; answered = c.calls.restful() {
			if !c.readOne() {
				return
			}
		}
		c.give()
	}
}

// give gives the turn back. Who asks from now on can take it, and who has asked
// before is seen.
func (c *Client) give() {
	c.turn.free <- struct{}{}
	c.turn.given(c.calls.some())
}

// readOne deals with one message, for whoever has the turn. After the last it is
// false, and nobody ever has the turn again.
func (c *Client) readOne() bool {
	if c.err = c.next(); c.err != nil {
		close(c.done)
		return false
	}
	return true
}

// Attend has the client's own reader read from now on, for one who waits for an answer
// and does not read.
func (c *Client) Attend() { c.turn.wake() }

// Turn takes the turn to read, if nobody has it. Then Read has to be called.
func (c *Call) Turn() bool { return c.c.turn.take() }

// Read reads until the request is answered, after Turn has said true. Without an
// answer, since the stream has ended or somebody else took it, ok is false.
func (c *Call) Read() (a Answer, ok bool) {
	for c.c.calls.waits(c.id) {
		if !c.c.readOne() {
			break
		}
	}
	select {
	case <-c.c.done:
	default:
		c.c.give()
	}
	select {
	case a = <-c.answer:
		return a, true
	default:
		return a, false
	}
}
