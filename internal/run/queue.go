package run

import (
	"container/heap"

	"github.com/bentobuild/bento/internal/plan"
)

// readyQueue holds the ready tasks, ordered by the longest path that starts at each, and the free
// workers, mutexes and memory.
type readyQueue struct {
	free     int
	capacity int
	far      farQueue
	path     []int64 // by task: the weight of the longest path that starts there
	ready    taskHeap
	held     map[string]bool         // the mutexes of running tasks
	blocked  map[string][]*plan.Task // ready, but their mutex is held
	workers  map[*plan.Task]int      // workers, by the tasks that have them
	alone    int                     // how many of these are interactive
	ended    map[*plan.Task]bool     // their outputs are being collected
	memory   memory
	rivals   [][]int              // by task: the tasks that must not run at the same time; nil for none
	running  map[int]bool         // the indices of the tasks in workers, if there are rivals
	barred   map[int][]*plan.Task // ready, but a rival runs
}

// newReadyQueue returns a queue for capacity workers. path has, by task, the weight of the longest
// path that starts there.
func newReadyQueue(capacity int, path []int64) *readyQueue {
	return &readyQueue{
		free: capacity, capacity: capacity, path: path,
		ready: taskHeap{path: path}, far: farQueue{ready: taskHeap{path: path}, has: make(map[*plan.Task]bool)},
		memory: memory{of: make(map[*plan.Task]int64)},
		held:   make(map[string]bool), blocked: make(map[string][]*plan.Task), workers: make(map[*plan.Task]int),
		ended: make(map[*plan.Task]bool), running: make(map[int]bool), barred: make(map[int][]*plan.Task),
	}
}

// Exclude sets, by task, the tasks that must not run at the same time. It is called before the first
// Next.
func (q *readyQueue) Exclude(rivals [][]int) { q.rivals = rivals }

// rival returns the index of a running task that must not run at the same time as t.
func (q *readyQueue) rival(t *plan.Task) (index int, runs bool) {
	if q.rivals == nil {
		return 0, false
	}
	for _, r := range q.rivals[t.Index] {
		if q.running[r] {
			return r, true
		}
	}
	return 0, false
}

// Add adds a ready task.
func (q *readyQueue) Add(t *plan.Task) {
	if q.far.isFar != nil && q.far.isFar(t) {
		heap.Push(&q.far.ready, t)
		return
	}
	heap.Push(&q.ready, t)
}

// Next returns a task that may start now and takes its workers; nil if no task may start. A task
// heavier than all workers together takes all of them.
func (q *readyQueue) Next() *plan.Task {
	if t := q.nextHere(); t != nil {
		return t
	}
	if t := q.nextFar(); t != nil {
		return t
	}
	q.bringHome()
	return q.nextHere()
}

// nextHere is Next for the tasks that are executed on this machine.
func (q *readyQueue) nextHere() *plan.Task {
	for q.ready.Len() > 0 && q.hasRoom(q.ready.tasks[0]) {
		t := heap.Pop(&q.ready).(*plan.Task)
		if q.claim(t) {
			weight := q.weight(t)
			q.free -= weight
			if q.workers[t] = weight; t.Interactive {
				q.alone++
			}
			q.memory.take(t)
			return t
		}
	}
	return nil
}

// weight returns how many workers t takes.
func (q *readyQueue) weight(t *plan.Task) int {
	if t.Interactive { // alone
		return q.capacity
	}
	return min(max(1, t.Weight), q.capacity)
}

// hasRoom reports whether t may start on this machine now.
func (q *readyQueue) hasRoom(t *plan.Task) bool {
	return q.weight(t) <= q.free && q.memory.fits(t) && len(q.ended) < q.capacity && !(t.Interactive && len(q.ended)+len(q.far.has) > 0)
}

// claim takes what a task shares with others. If that is taken, the task waits for its release.
func (q *readyQueue) claim(t *plan.Task) bool {
	if r, runs := q.rival(t); runs {
		q.barred[r] = append(q.barred[r], t)
		return false
	}
	if t.Mutex != "" {
		if q.held[t.Mutex] {
			q.blocked[t.Mutex] = append(q.blocked[t.Mutex], t)
			return false
		}
		q.held[t.Mutex] = true
	}
	if q.rivals != nil {
		q.running[t.Index] = true
	}
	return true
}

// Free releases the workers of t, which continues to run. Its mutex and its memory stay taken until
// it is released.
func (q *readyQueue) Free(t *plan.Task) {
	q.free += q.workers[t]
	q.workers[t] = 0
	q.memory.last(t)
}

// Ended notes that the process of t has succeeded, so that its workers are free while its outputs are
// collected. The number of tasks whose outputs are collected at a time is at most the number of
// workers.
func (q *readyQueue) Ended(t *plan.Task) {
	q.Free(t)
	q.memory.release(t)
	q.ended[t] = true
}

// Release frees everything that t has taken.
func (q *readyQueue) Release(t *plan.Task) {
	weight, had := q.workers[t]
	if !had {
		return
	}
	delete(q.workers, t)
	if t.Interactive {
		q.alone--
	}
	delete(q.ended, t)
	q.memory.release(t)
	delete(q.running, t.Index)
	for _, b := range q.barred[t.Index] {
		q.Add(b)
	}
	delete(q.barred, t.Index)
	q.free += weight
	if q.far.has[t] {
		delete(q.far.has, t)
		q.far.free++
	}
	if t.Mutex != "" {
		delete(q.held, t.Mutex)
		for _, b := range q.blocked[t.Mutex] {
			q.Add(b)
		}
		delete(q.blocked, t.Mutex)
	}
}

// taskHeap orders by longest path, then by place in the plan.
type taskHeap struct {
	path  []int64
	tasks []*plan.Task
}

func (h *taskHeap) Len() int { return len(h.tasks) }

func (h *taskHeap) Less(i, j int) bool {
	x, y := h.tasks[i].Index, h.tasks[j].Index
	if h.path[x] != h.path[y] {
		return h.path[x] > h.path[y]
	}
	return x < y
}

func (h *taskHeap) Swap(i, j int) { h.tasks[i], h.tasks[j] = h.tasks[j], h.tasks[i] }
func (h *taskHeap) Push(x any)    { h.tasks = append(h.tasks, x.(*plan.Task)) }

func (h *taskHeap) Pop() any {
	t := h.tasks[len(h.tasks)-1]
	h.tasks = h.tasks[:len(h.tasks)-1]
	return t
}
