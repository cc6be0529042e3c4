// Package parallel runs work on several goroutines: work that finds more work, and lists.
package parallel

import (
	"context"
	"runtime"
	"sync"
)

// Run processes the items of start and the items that processing finds. Each worker calls begin once;
// the function that begin returns processes one item and returns the found ones, and runs
// concurrently with those of other workers. 0 workers means one per core. Run returns the error of
// ctx; some items are unprocessed then.
func Run[T any](ctx context.Context, workers int, start []T, begin func() func(T) []T) error {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	c := &crew[T]{todo: append([]T(nil), start...), spare: workers - 1, begin: begin}
	c.more.L = &c.mu
	defer context.AfterFunc(ctx, c.cancel)()
	c.mu.Lock()
	c.call()
	c.mu.Unlock()
	c.work()
	c.helpers.Wait()
	return ctx.Err()
}

// worthHelp is the number of waiting items that need one more worker: with fewer it would start too
// late.
const worthHelp = 8

type crew[T any] struct {
	begin   func() func(T) []T
	helpers sync.WaitGroup

	mu    sync.Mutex
	more  sync.Cond
	todo  []T // last in, first out, which keeps the list short
	busy  int
	spare int // workers that were not started yet
	stop  bool
}

// call starts workers for the waiting items.
func (c *crew[T]) call() {
	for n := len(c.todo) / worthHelp; n > 0 && c.spare > 0; n-- {
		c.spare--
		c.helpers.Go(c.work)
	}
}

func (c *crew[T]) work() {
	do := c.begin()
	for item, ok := c.next(); ok; item, ok = c.next() {
		c.done(do(item))
	}
}

// next waits for an item; ok is false if there are no more items.
func (c *crew[T]) next() (item T, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.todo) == 0 && c.busy > 0 && !c.stop {
		c.more.Wait()
	}
	if len(c.todo) == 0 || c.stop {
		return item, false
	}
	last := len(c.todo) - 1
	item = c.todo[last]
	c.todo = c.todo[:last]
	c.busy++
	return item, true
}

// done ends one item and adds those found in it.
func (c *crew[T]) done(found []T) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.busy--
	c.todo = append(c.todo, found...)
	c.call()
	if len(found) > 1 || c.busy == 0 {
		c.more.Broadcast()
	}
}

func (c *crew[T]) cancel() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stop = true
	c.more.Broadcast()
}

// A worker of Map processes at most chunk consecutive items. Fewer than worthWorker are not worth a
// worker, which would start too late.
const (
	chunk       = 64
	worthWorker = 16
)

// Map returns the results of do for each item of a list, in order. Several workers call do, each
// with its own result of begin; one of them is the caller.
func Map[W, T, R any](list []T, begin func() W, do func(W, T) R) []R {
	out := make([]R, len(list))
	work := func(from, to int) {
		w := begin()
		for i := from; i < to; i++ {
			out[i] = do(w, list[i])
		}
	}
	size := min(chunk, max(worthWorker, len(list)/runtime.GOMAXPROCS(0)+1))
	var g sync.WaitGroup
	from := 0
	for ; from+size < len(list); from += size {
		start := from
		g.Go(func() { work(start, start+size) })
	}
	if from < len(list) {
		work(from, len(list))
	}
	g.Wait()
	return out
}
