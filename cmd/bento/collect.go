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
	usual := debug.SetGCPercent(littleHeap / startHeap * 100)
	afterCollection(usual)
}

// afterCollection sets the size for the next collection, after every collection.
func afterCollection(usual int) {
	runtime.AddCleanup(new([16]byte), func(usual int) {
		var heap runtime.MemStats // package runtime/metrics costs 70 µs at every start
		runtime.ReadMemStats(&heap)
		size := max(1, int(heap.HeapAlloc))
		debug.SetGCPercent(max(usual, (littleHeap-size)*100/size))
		afterCollection(usual)
	}, usual)
}
