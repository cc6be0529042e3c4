package run

import (
	"slices"
	"testing"

	"github.com/bentobuild/bento/internal/plan"
)

// drain takes the tasks that may start now and returns their indices.
func drain(q *readyQueue) []int {
	var got []int
	for t := q.Next(); t != nil; t = q.Next() {
		got = append(got, t.Index)
	}
	return got
}

func TestLongestPathGoesFirst(t *testing.T) {
	q := newReadyQueue(3, []int64{1, 5, 5, 9})
	for i := range 4 {
		q.Add(&plan.Task{Index: i})
	}
	if got, want := drain(q), []int{3, 1, 2}; !slices.Equal(got, want) {
		t.Errorf("started %v, want %v", got, want)
	}
}

func TestWeightTakesWorkers(t *testing.T) {
	heavy, light := &plan.Task{Index: 0, Weight: 9}, &plan.Task{Index: 1, Weight: 1}
	q := newReadyQueue(2, []int64{2, 1})
	q.Add(heavy)
	q.Add(light)
	if got := drain(q); !slices.Equal(got, []int{0}) {
		t.Fatalf("started %v beside a task that takes all workers", got)
	}
	q.Release(heavy)
	if got := drain(q); !slices.Equal(got, []int{1}) {
		t.Errorf("started %v", got)
	}
}

func TestMutexHoldsBackOnlyItsOwn(t *testing.T) {
	a, b, c := &plan.Task{Index: 0, Mutex: "db"}, &plan.Task{Index: 1, Mutex: "db"}, &plan.Task{Index: 2}
	q := newReadyQueue(4, []int64{3, 2, 1})
	q.Add(a)
	q.Add(b)
	q.Add(c)
	if got := drain(q); !slices.Equal(got, []int{0, 2}) {
		t.Fatalf("started %v", got)
	}
	q.Release(c)
	if got := drain(q); got != nil {
		t.Fatalf("started %v while the mutex is held", got)
	}
	q.Release(a)
	q.Release(a) // a second release has no effect
	if got := drain(q); !slices.Equal(got, []int{1}) {
		t.Errorf("started %v", got)
	}
	if q.Release(b); q.free != 4 {
		t.Errorf("%d of 4 workers are free", q.free)
	}
}

func TestEndedMakesRoom(t *testing.T) {
	tasks := make([]*plan.Task, 6)
	for i := range tasks {
		tasks[i] = &plan.Task{Index: i, Interactive: i == 5}
	}
	q := newReadyQueue(2, []int64{9, 8, 7, 6, 5, 4})
	for _, one := range tasks {
		q.Add(one)
	}
	started := drain(q)
	for _, i := range []int{0, 1} {
		q.Ended(tasks[i])
		started = append(started, drain(q)...)
	}
	if want := []int{0, 1, 2}; !slices.Equal(started, want) { // two are looked at: nothing is started on top
		t.Fatalf("started %v, want %v", started, want)
	}
	q.Release(tasks[0])
	if got, want := drain(q), []int{3}; !slices.Equal(got, want) {
		t.Fatalf("started %v, want %v", got, want)
	}
	for _, i := range []int{1, 2, 3} {
		q.Release(tasks[i])
	}
	if got, want := drain(q), []int{4}; !slices.Equal(got, want) {
		t.Fatalf("started %v, want %v", got, want)
	}
	if q.Ended(tasks[4]); drain(q) != nil {
		t.Error("an interactive task was started before the one that had ended was looked at")
	}
	if q.Release(tasks[4]); q.Next() != tasks[5] {
		t.Error("the interactive task was not started")
	}
}

// TestNothingFarBesideInteractive: nothing starts elsewhere until an interactive task has ended, also one that has freed its workers
// for other tasks.
func TestNothingFarBesideInteractive(t *testing.T) {
	server, here, far := &plan.Task{Index: 0, Interactive: true}, &plan.Task{Index: 1}, &plan.Task{Index: 2}
	q := newReadyQueue(2, []int64{3, 2, 1})
	q.Extend(1, func(one *plan.Task) bool { return one == far }, func(*plan.Task) bool { return true })
	for _, one := range []*plan.Task{server, here, far} {
		q.Add(one)
	}
	if got, want := drain(q), []int{0}; !slices.Equal(got, want) {
		t.Fatalf("started %v, want %v", got, want)
	}
	q.Free(server)
	if got, want := drain(q), []int{1}; !slices.Equal(got, want) {
		t.Fatalf("started %v beside the server, want %v", got, want)
	}
	if q.Release(here); q.Next() != nil {
		t.Fatal("started elsewhere beside an interactive task")
	}
	if q.Release(server); q.Next() != far {
		t.Error("not started after the interactive task")
	}
}

// TestIdleMachineHelps: a machine without work of its own executes what waits for a place elsewhere, the longest path first, unless
// that must not be executed here.
func TestIdleMachineHelps(t *testing.T) {
	tasks, home := make([]*plan.Task, 5), make(map[*plan.Task]bool)
	for i := range tasks {
		tasks[i] = &plan.Task{Index: i}
	}
	q := newReadyQueue(2, []int64{9, 8, 7, 6, 5})
	far := func(one *plan.Task) bool { return one != tasks[4] && !home[one] }
	q.Extend(1, far, func(one *plan.Task) bool { home[one] = one != tasks[1]; return home[one] })
	for _, one := range tasks {
		q.Add(one)
	}
	for _, step := range []struct {
		release int // -1: none
		want    []int
	}{{-1, []int{4, 0}}, {0, []int{1, 2}}, {4, []int{3}}, {1, nil}, {2, nil}, {3, nil}} {
		if step.release >= 0 {
			q.Release(tasks[step.release])
		}
		if got := drain(q); !slices.Equal(got, step.want) {
			t.Errorf("after %d: started %v, want %v", step.release, got, step.want)
		}
	}
	if q.free != 2 || q.far.free != 1 {
		t.Errorf("%d of 2 workers are free, %d of 1 place elsewhere", q.free, q.far.free)
	}
}

func TestOneWorkerDoesOneThing(t *testing.T) {
	a, b := &plan.Task{Index: 0}, &plan.Task{Index: 1}
	q := newReadyQueue(1, []int64{2, 1})
	q.Add(a)
	q.Add(b)
	q.Next()
	if q.Ended(a); q.Next() != nil {
		t.Fatal("started while the one before was looked at")
	}
	if q.Release(a); q.Next() != b {
		t.Error("not started after the one before")
	}
}

// TestMemoryIsShared: tasks that declare memory start while there is enough. A task that declares
// more than the machine has takes all of it. A ready server keeps its memory, but does not block
// other tasks.
func TestMemoryIsShared(t *testing.T) {
	task := func(i int, memory int64) *plan.Task { return &plan.Task{Index: i, Memory: memory} }
	six, four, five, huge, none := task(0, 6), task(1, 4), task(2, 5), task(3, 99), task(4, 0)
	start := func(size int64, tasks ...*plan.Task) *readyQueue {
		q := newReadyQueue(8, []int64{5, 4, 3, 2, 1})
		q.memory.size = size
		for _, t := range tasks {
			q.Add(t)
		}
		return q
	}
	want := func(q *readyQueue, what string, want ...int) {
		t.Helper()
		if got := drain(q); !slices.Equal(got, want) {
			t.Errorf("%s: started %v, want %v", what, got, want)
		}
	}
	q := start(10, six, four, five, none)
	want(q, "as long as it lasts", 0, 1)
	q.Release(four)
	want(q, "6 and 5 of 10")
	q.Ended(six)
	want(q, "after the process of the first", 2, 4)

	q = start(10, huge, six)
	want(q, "beside none", 0)
	q.Release(six)
	want(q, "all of it", 3)

	q = start(10, huge)
	want(q, "a server", 3)
	q.Free(huge)
	q.Add(six)
	q.Add(four)
	want(q, "beside a server that has everything", 0, 1)
	q.Release(huge)
	q.Release(six)
	q.Release(four)
	q.Add(six)
	q.Add(five)
	want(q, "everything is back", 0)

	want(start(0, six, huge, five), "of unknown size", 0, 2, 3)
}
