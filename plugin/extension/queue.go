package extension

import (
	"context"
	"sync"
)

// These are the limits of the queue of handlers. Above them the oldest event is dropped and counted in the
// next one, and a request is refused.
const (
	maxEvents   = 1024
	maxHeld     = 64 << 20 // bytes of events
	maxRequests = 256
)

// item is one message for a handler.
type item struct {
	size    int                                    // of an event, in bytes
	event   bool                                   // may be dropped
	handler func(ctx context.Context, dropped int) // dropped: events lost before it
}

// queue holds items in the order of arrival. One goroutine takes them.
type queue struct {
	more chan struct{} // holds one when there may be an item, or the end

	mu       sync.Mutex
	items    []item
	events   int
	requests int
	held     int
	dropped  int
	closed   bool
}

func newQueue() *queue { return &queue{more: make(chan struct{}, 1)} }

// add reports whether it took the item.
func (q *queue) add(i item) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed || !i.event && q.requests >= maxRequests {
		return false
	}
	q.items = append(q.items, i)
	if !i.event {
		q.requests++
	} else {
		q.events++
		q.held += i.size
		for q.events > maxEvents || q.held > maxHeld && q.events > 1 {
			q.dropOldest()
		}
	}
	q.wake()
	return true
}

func (q *queue) dropOldest() {
	for n, i := range q.items {
		if i.event {
			q.items = append(q.items[:n], q.items[n+1:]...)
			q.events--
			q.held -= i.size
			q.dropped++
			return
		}
	}
}

func (q *queue) wake() {
	select {
	case q.more <- struct{}{}:
	default:
	}
}

// close ends the queue after the items that it has.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.wake()
}

// take waits for the next item. ok is false at the end, and when ctx is done.
func (q *queue) take(ctx context.Context) (i item, dropped int, ok bool) {
	for ctx.Err() == nil {
		q.mu.Lock()
		if len(q.items) > 0 {
			i, q.items[0], q.items = q.items[0], item{}, q.items[1:]
			if i.event {
				dropped, q.dropped = q.dropped, 0
				q.events--
				q.held -= i.size
			} else {
				q.requests--
			}
			q.mu.Unlock()
			return i, dropped, true
		}
		closed := q.closed
		q.mu.Unlock()
		if closed {
			return item{}, 0, false
		}
		select {
		case <-q.more:
		case <-ctx.Done():
		}
	}
	return item{}, 0, false
}
