package queue

import (
	"slices"
	"testing"

	"github.com/bentobuild/bento/internal/plan"
)

// drain takes what may start now and gives the indices.
func drain(q *Queue) []int {
	var got []int
	for t := q.Next(); t != nil; t = q.Next() {
		got = append(got, t.Index)
	}
	return got
}

func TestLongestPathGoesFirst(t *testing.T) {
	q := New(3, []int64{1, 5, 5, 9})
	for i := range 4 {
		q.Add(&plan.Task{Index: i})
	}
	if got, want := drain(q), []int{3, 1, 2}; !slices.Equal(got, want) {
		t.Errorf("started %v, want %v", got, want)
	}
}

func TestWeightTakesWorkers(t *testing.T) {
	heavy, light := &plan.Task{Index: 0, Weight: 9}, &plan.Task{Index: 1, Weight: 1}
	q := New(2, []int64{2, 1})
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
	q := New(4, []int64{3, 2, 1})
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
	q.Release(a) // a second time is nothing
	if got := drain(q); !slices.Equal(got, []int{1}) {
		t.Errorf("started %v", got)
	}
	if q.Release(b); q.free != 4 {
		t.Errorf("%d of 4 workers are free", q.free)
	}
}
