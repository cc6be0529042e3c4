package companion

import (
	"sync"

	"github.com/bentobuild/bento/internal/report"
)

// maxQueued is how many notices wait at most. A further one replaces the oldest.
const maxQueued = 4096

// queue holds the notices between a run and the goroutine that passes them on. Adding never waits.
type queue struct {
	more chan struct{} // holds one when there may be a notice

	mu      sync.Mutex
	list    []report.Notice
	dropped int
	idle    chan struct{} // closed when all are passed on; nil while none waits for that
	busy    bool          // notices were taken, and are not passed on yet
}

func newQueue() *queue { return &queue{more: make(chan struct{}, 1)} }

func (q *queue) add(n report.Notice) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.list) >= maxQueued {
		q.list[0] = report.Notice{}
		q.list = q.list[1:]
		q.dropped++
	}
	q.list = append(q.list, n)
	select {
	case q.more <- struct{}{}:
	default:
	}
}

// take returns all notices that wait. The caller calls passed when it has passed them on.
func (q *queue) take() []report.Notice {
	q.mu.Lock()
	defer q.mu.Unlock()
	list := q.list
	q.list, q.busy = nil, len(list) > 0
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
	return q.idle
}

// lost returns how many notices were dropped.
func (q *queue) lost() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.dropped
}
