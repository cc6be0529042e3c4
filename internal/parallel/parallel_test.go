package parallel

import (
	"context"
	"sync/atomic"
	"testing"
)

func TestEverythingIsDone(t *testing.T) {
	for _, workers := range []int{0, 1, 7} {
		var sum, begun atomic.Int64
		err := Run(t.Context(), workers, []int{12}, func() func(int) []int {
			begun.Add(1)
			return func(n int) []int {
				sum.Add(1)
				if n == 0 {
					return nil
				}
				return []int{n - 1, n - 1}
			}
		})
		if err != nil || sum.Load() != 1<<13-1 || workers > 0 && begun.Load() != int64(workers) {
			t.Errorf("%d workers: %d items by %d, %v", workers, sum.Load(), begun.Load(), err)
		}
	}
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	err := Run(ctx, 2, []int{0}, func() func(int) []int {
		return func(n int) []int {
			if n == 100 {
				cancel()
			}
			return []int{n + 1} // without end
		}
	})
	if err != context.Canceled {
		t.Error(err)
	}
	if err := Run(ctx, 2, nil, func() func(int) []int { return nil }); err != context.Canceled {
		t.Error(err)
	}
}

func TestMap(t *testing.T) {
	for _, n := range []int{0, 1, 63, 64, 65, 1000} {
		list := make([]int, n)
		for i := range list {
			list[i] = i
		}
		var begun atomic.Int64
		begin := func() int { begun.Add(1); return 7 }
		out := Map(list, begin, func(w, i int) int { return w * i })
		if len(out) != n || int(begun.Load()) > n {
			t.Fatalf("%d of %d, by %d workers", len(out), n, begun.Load())
		}
		for i, got := range out {
			if got != 7*i {
				t.Errorf("%d: %d", i, got)
			}
		}
	}
}
