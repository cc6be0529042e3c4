package companion

import (
	"sync"
	"time"

	"github.com/bentobuild/bento/internal/report"
)

// maxQueued is the maximal number of waiting notices. A further notice replaces the oldest.
const maxQueued = 4096

// The set publishes the notices of gatherTime together, since each publication wakes all extensions. It publishes
// earlier if gatherMost notices wait.
const (
	gatherTime = 25 * time.Millisecond
	gatherMost = maxQueued / 8
)

// queue has the notices between a run and the goroutine that publishes them. Adding a notice never blocks.
type queue struct {
	more chan struct{} // has a value if there may be a notice
	many chan struct{} // has a value if there may be gatherMost notices, or a caller waits for an empty queue

	mu      sync.Mutex
	list    []report.Notice
	dropped int
	idle    chan struct{} // closed when all are published; nil if no caller waits for that
	busy    bool          // notices were taken, and are not published yet
}

func newQueue() *queue { return &queue{more: make(chan struct{}, 1), many: make(chan struct{}, 1)} }

// signal sends to a channel, unless it is full.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// gather waits for further notices for gatherTime, less if gatherMost wait or stop is closed.
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

// take returns all waiting notices. The caller calls passed when it has published them.
func (q *queue) take() []report.Notice {
	q.mu.Lock()
	defer q.mu.Unlock()
	list := q.list
	q.list, q.busy = nil, len(list) > 0
	select {
	case <-q.many: // the signal was for this list
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

// empty returns a channel that is closed when all notices are published, nil if none waits.
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

// lost returns the number of dropped notices.
func (q *queue) lost() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.dropped
}
