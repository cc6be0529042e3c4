package run

import (
	"container/heap"

	"github.com/bentobuild/bento/internal/plan"
)

// farQueue holds the ready tasks that are executed on other machines. They take no worker of this one.
type farQueue struct {
	isFar func(*plan.Task) bool // nil: no task is
	home  func(*plan.Task) bool // decides that a task is executed here, if it can be
	free  int
	ready taskHeap
	has   map[*plan.Task]bool // the tasks that have been started
}

// Extend lets as many tasks as n start at once elsewhere, beside the workers. home decides that a task is executed here after all, and
// reports false if it must not be. Extend is called before the first Add.
func (q *readyQueue) Extend(n int, isFar, home func(*plan.Task) bool) {
	q.far.free, q.far.isFar, q.far.home = n, isFar, home
}

// bringHome lets this machine, if it has nothing else to do, execute the first of the tasks that wait since all places elsewhere are
// taken: the one with the longest path behind it.
func (q *readyQueue) bringHome() {
	if q.far.free > 0 || q.far.ready.Len() == 0 || q.ready.Len() > 0 || q.alone > 0 {
		return
	}
	if t := q.far.ready.tasks[0]; q.hasRoom(t) && q.far.home(t) {
		heap.Push(&q.ready, heap.Pop(&q.far.ready))
	}
}

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
