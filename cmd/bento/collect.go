package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"sync"
)

// littleHeap is the size of the heap in bytes up to which it is not collected. A run with
// nothing to do ends before that, and a small run would collect often for a few megabytes.
const littleHeap = 32 << 20

// firstHeap is littleHeap for the first look at a workspace, which asks every adapter about
// every file.
const firstHeap = 64 << 20

// startHeap is the size in bytes to which the collector's percentage applies before the first
// collection.
const startHeap = 4 << 20

// collector spares short and small runs the garbage collector. It is safe for concurrent use.
type collector struct {
	usual int // the percentage of $GOGC

	mu      sync.Mutex
	little  int // size in bytes up to which the heap is not collected
	percent int // the one that is set now
	began   bool
}

// collectLate returns the collector of this process, nil if $GOGC is set: it is obeyed.
func collectLate() *collector {
	if os.Getenv("GOGC") != "" {
		return nil
	}
	c := &collector{little: littleHeap, percent: littleHeap / startHeap * 100}
	c.usual = debug.SetGCPercent(c.percent)
	c.afterCollection()
	return c
}

// expectFirstLook lets the heap grow to firstHeap. A nil collector is left as it is.
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
	// The collector has set NextGC from what it left; HeapAlloc has grown since.
	live := max(1, int(heap.NextGC)/(100+c.percent)*100)
	c.percent, c.began = c.next(live), true
	debug.SetGCPercent(c.percent)
	c.afterCollection()
}

// next returns the percentage after a collection that left live bytes.
func (c *collector) next(live int) int { return max(c.usual, (c.little-live)*100/live) }
