package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"sync"
)

// littleHeap is the size in bytes up to which the heap is not collected. A run of cache hits ends
// before that size, and a small run would collect often to free a few megabytes.
const littleHeap = 32 << 20

// firstHeap is littleHeap for the first discovery in a workspace, which calls every adapter for
// every file.
const firstHeap = 64 << 20

// largeHeap is the size in bytes of what is alive above which the heap is collected more often than usual.
const largeHeap = 64 << 20

// startHeap is the size in bytes to which the collector's percentage applies before the first
// collection.
const startHeap = 4 << 20

// collector spares short and small runs the garbage collector. It is safe for concurrent use.
type collector struct {
	usual int // the percentage of $GOGC

	mu      sync.Mutex
	little  int // size in bytes up to which the heap is not collected
	percent int // the current percentage
	began   bool
}

// collectLate returns the collector of this process, nil if $GOGC is set by the user.
func collectLate() *collector {
	if os.Getenv("GOGC") != "" {
		return nil
	}
	c := &collector{little: littleHeap, percent: littleHeap / startHeap * 100}
	c.usual = debug.SetGCPercent(c.percent)
	c.afterCollection()
	return c
}

// expectFirstLook lets the heap grow to firstHeap. It does nothing for a nil collector.
func (c *collector) expectFirstLook() {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.little = firstHeap
	if !c.began {
		c.percent = firstHeap / startHeap * 100
		debug.SetGCPercent(c.percent)
	}
}

// afterCollection sets the size for the next collection, after every collection.
func (c *collector) afterCollection() {
	runtime.AddCleanup(new([16]byte), (*collector).collected, c)
}

func (c *collector) collected() {
	var heap runtime.MemStats // package runtime/metrics costs 70 µs at every start
	runtime.ReadMemStats(&heap)
	c.mu.Lock()
	defer c.mu.Unlock()
	// NextGC depends on the live heap after the collection; HeapAlloc has grown since.
	live := max(1, int(heap.NextGC)/(100+c.percent)*100)
	c.percent, c.began = c.next(live), true
	debug.SetGCPercent(c.percent)
	c.afterCollection()
}

// next returns the percentage after a collection that left live bytes. A heap above largeHeap grows by that
// size, but by half of the usual percentage at least: collections are few there.
func (c *collector) next(live int) int {
	usual := c.usual
	if live > largeHeap {
		usual = usual * max(largeHeap, live/2) / live
	}
	return max(usual, (c.little-live)*100/live)
}
