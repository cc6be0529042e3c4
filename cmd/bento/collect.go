package main

import (
	"os"
	"runtime"
	"runtime/debug"
)

// littleHeap is the size of the heap in bytes up to which it is not collected. A run with
// nothing to do ends before that, and a small run would collect often for a few megabytes.
const littleHeap = 32 << 20

// startHeap is the size in bytes to which the collector's percentage applies before the first
// collection.
const startHeap = 4 << 20

// collectLate spares short and small runs the garbage collector. $GOGC is obeyed.
func collectLate() {
	if os.Getenv("GOGC") != "" {
		return
	}
	const first = littleHeap / startHeap * 100
	usual := debug.SetGCPercent(first)
	afterCollection(usual, first)
}

// afterCollection sets the size for the next collection, after every collection. percent is the one
// that is set now.
func afterCollection(usual, percent int) {
	runtime.AddCleanup(new([16]byte), func(percent int) {
		var heap runtime.MemStats // package runtime/metrics costs 70 µs at every start
		runtime.ReadMemStats(&heap)
		// The collector has set NextGC from what it left; HeapAlloc has grown since.
		live := max(1, int(heap.NextGC)/(100+percent)*100)
		next := max(usual, (littleHeap-live)*100/live)
		debug.SetGCPercent(next)
		afterCollection(usual, next)
	}, percent)
}
