package run

import (
	"context"
	"time"
)

// enqueue moves the free tasks into the queue. Tasks that need no worker end here.
func (e *engine) enqueue(ctx context.Context) {
	e.wake = time.Time{}
	e.enqueueAll(ctx, &e.waiting)
	for len(e.free) > 0 {
		e.askFree(ctx)
		e.enqueueAll(ctx, &e.free)
	}
}

// enqueueAll is enqueue of a list, which it empties.
func (e *engine) enqueueAll(ctx context.Context, from *[]*node) {
	list, now := *from, time.Now()
	*from = nil
	for _, n := range list {
		switch {
		case n.phase != ready:
		case e.stopped(ctx) == "" && e.waits(ctx, n, now):
			e.waiting = append(e.waiting, n)
		case e.stopped(ctx) != "" || e.keys.Outdated(n.ev) || !e.endIfInPlace(n):
			e.queue.Add(n.task)
		}
	}
}
