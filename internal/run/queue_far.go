package run

import (
	"container/heap"

	"github.com/bentobuild/bento/internal/plan"
)

// farQueue holds the ready tasks that are executed on other machines. They take no worker of this one.
type farQueue struct {
	isFar func(*plan.Task) bool // nil: no task is
	free  int
	ready taskHeap
	has   map[*plan.Task]bool // the tasks that have been started
}

// Extend lets as many tasks as n start at once elsewhere, beside the workers. It is called before the first Add.
func (q *readyQueue) Extend(n int, isFar func(*plan.Task) bool) { q.far.free, q.far.isFar = n, isFar }

// nextFar is Next for the tasks that are executed elsewhere. None starts beside an interactive one.
func (q *readyQueue) nextFar() *plan.Task {
	for q.far.free > 0 && q.far.ready.Len() > 0 && q.alone == 0 {
		t := heap.Pop(&q.far.ready).(*plan.Task)
		if q.claim(t) {
			q.far.free--
			q.far.has[t] = true
			q.workers[t] = 0
			return t
		}
	}
	return nil
}
