// Package growth checks in tests that the work of readers grows no faster than n log n with the n
// entries of a file.
package growth

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// Reader is a reader and a generator of files with n entries.
type Reader struct {
	Read func(data []byte) any
	File func(n int) string
}

// Of returns a Reader.
func Of(read func(data []byte) any, file func(n int) string) Reader { return Reader{read, file} }

// List returns a function that writes n entries between head and tail; %d in an entry is its
// number.
func List(head, entry, between, tail string) func(n int) string {
	return func(n int) string {
		var b strings.Builder
		b.WriteString(head)
		for i := range n {
			if i > 0 {
				b.WriteString(between)
			}
			b.WriteString(strings.ReplaceAll(entry, "%d", fmt.Sprint(i)))
		}
		return b.String() + tail
	}
}

// By returns a reader that calls a function that parses a file.
func By[T, E any](parse func(string, []byte) (T, E)) func([]byte) any {
	return func(data []byte) any {
		v, err := parse("/w/file", data)
		return []any{v, err}
	}
}

// Check fails for readers whose allocated bytes or time grow faster than n log n. With -short it
// skips the test: files that show it take seconds.
func Check(t *testing.T, readers map[string]Reader) {
	t.Helper()
	if testing.Short() {
		t.Skip("it reads large files")
	}
	for name, r := range readers {
		t.Run(name, func(t *testing.T) {
			for _, fault := range []string{r.memory(), r.time()} {
				if fault != "" {
					t.Error(fault)
				}
			}
		})
	}
}

// CheckMemory is Check only for the allocated bytes of one reader, whose files are costly.
func CheckMemory(t *testing.T, r Reader) {
	t.Helper()
	if fault := r.memory(); fault != "" {
		t.Error(fault)
	}
}

// memory returns a message if the allocations of a reader outgrow the file, else "". The result does
// not depend on the load of the machine.
func (r Reader) memory() string {
	const n, factor, slack = 400, 4, 1.6 // maps and slices grow in steps
	few, many := allocated(r.Read, []byte(r.File(n))), allocated(r.Read, []byte(r.File(factor*n)))
	if float64(many) > factor*slack*float64(max(few, 16<<10)) {
		return fmt.Sprintf("%d times the entries take %.1f times the memory", factor, float64(many)/float64(few))
	}
	return ""
}

func allocated(read func([]byte) any, data []byte) uint64 {
	var before, after runtime.MemStats
	least := uint64(1 << 62)
	for range 3 { // the first call fills pools and compiles patterns
		runtime.ReadMemStats(&before)
		kept := read(data)
		runtime.ReadMemStats(&after)
		runtime.KeepAlive(kept)
		least = min(least, after.TotalAlloc-before.TotalAlloc)
	}
	return least
}

// time returns a message if the time of a reader outgrows the file, else "". It measures the thread's
// CPU time, which other load hardly changes: quadratic work takes 256 times as long, n log n 23
// times.
func (r Reader) time() string {
	const n, factor, most, tries = 500, 16, 80, 5
	few, many := []byte(r.File(n)), []byte(r.File(factor*n))
	least := worked(r.Read, few, 4)
	var grown float64
	for range tries {
		if grown = worked(r.Read, many, 1) / least; grown <= most {
			return ""
		}
		least = max(least, worked(r.Read, few, 4)) // a slower machine slows both
	}
	return fmt.Sprintf("%d times the entries take %.0f times the time, at most %d expected", factor, grown, most)
}

// worked returns the least CPU time of several calls in seconds. It returns 1 if it cannot be
// measured.
func worked(read func([]byte) any, data []byte, times int) float64 {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	least := 1e9
	for range times {
		from := threadTime()
		runtime.KeepAlive(read(data))
		least = min(least, threadTime()-from)
	}
	return max(least, 20e-6) // the resolution of the clock
}

// Benchmark measures how the time of readers grows: four times the entries should take about four
// times as long.
func Benchmark(b *testing.B, readers map[string]Reader) {
	for name, r := range readers {
		for _, n := range []int{1000, 4000} {
			data := []byte(r.File(n))
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				for b.Loop() {
					r.Read(data)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/entry")
			})
		}
	}
}
