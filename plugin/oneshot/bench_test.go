package oneshot

import (
	"slices"
	"testing"
	"time"
)

// compare runs two functions in turn, and reports the medians and how many times longer the first
// one takes.
func compare(b *testing.B, one, other func()) {
	var a, z []time.Duration
	took := func(f func()) time.Duration {
		began := time.Now()
		f()
		return time.Since(began)
	}
	one()
	other()
	for b.Loop() {
		a, z = append(a, took(one)), append(z, took(other))
	}
	slices.Sort(a)
	slices.Sort(z)
	call, bare := a[len(a)/2], z[len(z)/2]
	b.ReportMetric(float64(call.Microseconds()), "µs/call")
	b.ReportMetric(float64(bare.Microseconds()), "µs/bare")
	b.ReportMetric(float64(call)/float64(bare), "call/bare")
}
