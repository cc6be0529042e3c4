package wire

import (
	"sync"
	"time"
)

// Switching goroutines costs more than the rest of a short call. So the goroutine that
// waits for an answer reads for it, if no other reads. For a while after an answer none
// reads: the next call often follows at once. Then the client's own reader takes over.
// (Where a write may block, another goroutine has to read meanwhile, and the client's own
// reader does that all the time.)

// idleTime is that while, or up to twice of it. The end of a stream can go unnoticed for so
// long.
const idleTime = 2 * time.Millisecond

// turn is the right to read, which one goroutine has at a time.
type turn struct {
	free   chan struct{} // holds a token while no goroutine reads
	resume chan struct{} // wakes the client's own reader

	mu    sync.Mutex
	timer *time.Timer // checks whether the turn has been taken meanwhile
	armed bool
	taken bool // since the timer was armed
}

func newTurn() *turn {
	t := &turn{free: make(chan struct{}, 1), resume: make(chan struct{}, 1), armed: true}
	t.free <- struct{}{}
	t.timer = time.AfterFunc(0, t.look)
	return t
}

// take takes the turn, and reports whether it was free.
func (t *turn) take() bool {
	select {
	case <-t.free:
		return true
	default:
		return false
	}
}

// given makes sure that the turn is taken again: by the client's own reader at once if a
// request waits for an answer, else soon. A timer for each call would cost as much as the
// call.
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
			continue // its holder gives it back
		}
		for answered := false; !answered || c.conn.now == nil; answered = c.calls.restful() {
			if !c.readOne() {
				return
			}
		}
		c.give()
	}
}

// give returns the turn. Later callers can take it, and earlier ones are noticed.
func (c *Client) give() {
	c.turn.free <- struct{}{}
	c.turn.given(c.calls.some())
}

// readOne handles one message, for the holder of the turn. After the last one it returns
// false, and the turn is never free again.
func (c *Client) readOne() bool {
	if c.err = c.next(); c.err != nil {
		close(c.done)
		return false
	}
	return true
}

// Attend makes the client's own reader read from now on, for a caller that waits for an
// answer without reading.
func (c *Client) Attend() { c.turn.wake() }

// Turn takes the turn to read, if it is free. The caller must then call Read.
func (c *Call) Turn() bool { return c.c.turn.take() }

// Read reads until the request is answered, after Turn has returned true. ok is false
// without an answer: the stream has ended, or another goroutine received it.
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
