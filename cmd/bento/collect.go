package main

import (
	"os"
	"runtime"
	"runtime/debug"
)

// firstCollection is the size in percent of 4 MiB at which the heap is collected for
// the first time: a run with nothing to do ends before.
const firstCollection = 800

// collectLate spares short runs the garbage collector. From its first collection on
// it works as it always does. $GOGC is obeyed.
func collectLate() {
	if os.Getenv("GOGC") != "" {
		return
	}
	usual := debug.SetGCPercent(firstCollection)
	runtime.AddCleanup(new([16]byte), func(percent int) { debug.SetGCPercent(percent) }, usual)
}
