package companion

import (
	"sync"
	"time"

	"github.com/bentobuild/bento/internal/report"
)

// maxQueued is how many notices wait at most. A further one replaces the oldest.
const maxQueued = 4096

// What is passed on at once: the notices of gatherTime, since each time wakes all extensions, and at most
// gatherMost before that.
const (
	gatherTime = 25 * time.Millisecond
	gatherMost = maxQueued / 8
)

// queue holds the notices between a run and the goroutine that passes them on. Adding never waits.
type queue struct {
	more chan struct{} // holds one when there may be a notice
	many chan struct{} // holds one when there may be gatherMost, or a caller waits until none is left

	mu      sync.Mutex
	list    []report.Notice
	dropped int
	idle    chan struct{} // closed when all are passed on; nil while none waits for that
	busy    bool          // notices were taken, and are not passed on yet
}

func newQueue() *queue { return &queue{more: make(chan struct{}, 1), many: make(chan struct{}, 1)} }

// signal puts one into a channel that holds none.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// gather waits for the notices that come within gatherTime of a first one, unless stop is closed.
func (q *queue) gather(stop <-chan struct{}) {
	timer := time.NewTimer(gatherTime)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-q.many:
	case <-stop:
	}
}

func (q *queue) add(n report.Notice) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.list) >= maxQueued {
		q.list[0] = report.Notice{}
		q.list = q.list[1:]
		q.dropped++
	}
	q.list = append(q.list, n)
	signal(q.more)
	if len(q.list) >= gatherMost || q.idle != nil {
		signal(q.many)
	}
}

// take returns all notices that wait. The caller calls passed when it has passed them on.
func (q *queue) take() []report.Notice {
	q.mu.Lock()
	defer q.mu.Unlock()
	list := q.list
	q.list, q.busy = nil, len(list) > 0
	select {
	case <-q.many: // it was for this list
	default:
	}
	return list
}

func (q *queue) passed() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.busy = false
	if q.idle != nil && len(q.list) == 0 {
		close(q.idle)
		q.idle = nil
	}
}

// empty returns a channel that is closed when all notices are passed on, nil if they are.
func (q *queue) empty() <-chan struct{} {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.list) == 0 && !q.busy {
		return nil
	}
	if q.idle == nil {
		q.idle = make(chan struct{})
	}
	signal(q.many)
	return q.idle
}

// lost returns how many notices were dropped.
func (q *queue) lost() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.dropped
}
