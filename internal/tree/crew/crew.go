// Package crew does work that finds more work, with several workers.
package crew

import (
	"context"
	"runtime"
	"sync"
)

// Run does the items of start and what doing them finds. Each worker calls begin
// once for the function that does one item, and gives what was found; different
// items are done at the same time. 0 workers means one a core. The error is that of
// ctx, and then not everything was done.
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

// worthHelp is how many items have to wait before one more worker is called: for few
// it would come too late.
const worthHelp = 8

type crew[T any] struct {
	begin   func() func(T) []T
	helpers sync.WaitGroup

	mu    sync.Mutex
	more  sync.Cond
	todo  []T // last in, first out: keeps the list short
	busy  int
	spare int // workers that were not called yet
	stop  bool
}

// call calls as many workers as what is to be done is worth.
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

// next waits for something to do; not ok says that there will be nothing.
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

// done ends one item, in which others were found.
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

// chunk is how many items a worker of Map does in a row.
const chunk = 64

// Map gives what do gives for each item of a list, in its order. Several workers do
// so, each with what begin gives.
func Map[W, T, R any](list []T, begin func() W, do func(W, T) R) []R {
	out := make([]R, len(list))
	var g sync.WaitGroup
	for from := 0; from < len(list); from += chunk {
		to := min(from+chunk, len(list))
		g.Go(func() {
			w := begin()
			for i := from; i < to; i++ {
				out[i] = do(w, list[i])
			}
		})
	}
	g.Wait()
	return out
}
