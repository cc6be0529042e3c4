//go:build unix

package cache_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/cache/cachetest"
)

// contents returns different blobs of size bytes. Half of each can be compressed.
func contents(n, size int) [][]byte {
	rng := rand.New(rand.NewPCG(1, uint64(size)))
	all := make([][]byte, n)
	for i := range all {
		all[i] = bytes.Repeat([]byte("package x // "), size/13+1)[:size]
		for j := 0; j < size; j += 2 {
			if i%2 == 0 || j < 16 {
				all[i][j] = byte(rng.Uint32())
			}
		}
	}
	return all
}

var sizes = map[string]int{"2KiB": 2 << 10, "64KiB": 64 << 10, "4MiB": 4 << 20}

func BenchmarkAdd(b *testing.B) {
	for name, size := range sizes {
		b.Run(name, func(b *testing.B) {
			blobs := contents(8, size)
			b.SetBytes(int64(size))
			s, _ := openDisk(b)
			i := 0
			for b.Loop() {
				// What is added must be new.
				n := i % len(blobs)
				copy(blobs[n], fmt.Sprint(i))
				if err := s.Add(cache.Sum(blobs[n]), bytes.NewReader(blobs[n])); err != nil {
					b.Fatal(err)
				}
				i++
			}
		})
	}
}

// BenchmarkKeep measures PruneToBounds on a store of 50,000 files: after each result that fits the bound,
// and with a listing of the store.
func BenchmarkKeep(b *testing.B) {
	first, _ := openDisk(b)
	for i := range 10_000 { // each has 5 files
		if err := first.Record(cache.Key{byte(i), byte(i >> 8)}, cachetest.Record(b, first, i)); err != nil {
			b.Fatal(err)
		}
	}
	s, err := cache.Open(filepath.Dir(first.Dir()), &cache.Options{Bounds: cache.Bounds{MaxSize: 1 << 40}})
	if err != nil {
		b.Fatal(err)
	}
	if err := s.PruneToBounds(b.Context()); err != nil { // without a tally
		b.Fatal(err)
	}
	b.Run("after a result", func(b *testing.B) {
		defer reportCPU(b)()
		for b.Loop() {
			if err := s.Record(cache.Key{1, 2, 3}, &cache.Record{}); err != nil {
				b.Fatal(err)
			}
			if err := s.PruneToBounds(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("listing", func(b *testing.B) {
		defer reportCPU(b)()
		for b.Loop() {
			if _, err := s.Prune(b.Context(), cache.Bounds{MaxSize: 1 << 40}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// reportCPU makes a benchmark report its CPU time. Unlike the elapsed time, it does not depend on other
// programs on the machine.
func reportCPU(b *testing.B) (end func()) {
	spent := func() int64 {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			b.Fatal(err)
		}
		return u.Utime.Nano() + u.Stime.Nano()
	}
	before := spent()
	return func() { b.ReportMetric(float64(spent()-before)/float64(b.N), "cpu-ns/op") }
}
