package main

import "testing"

// TestNextCollection: a small heap is not collected below a fixed size, another one grows by the usual
// percentage between collections, a large one by less.
func TestNextCollection(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ little, live, want int }{
		{littleHeap, 8 << 20, 300},
		{littleHeap, 16 << 20, 100},
		{littleHeap, 64 << 20, 100},
		{littleHeap, 100 << 20, 64},
		{littleHeap, 400 << 20, 50},
		{firstHeap, 16 << 20, 300},
		{firstHeap, 40 << 20, 100},
	} {
		if got := (&collector{usual: 100, little: c.little}).next(c.live); got != c.want {
			t.Errorf("%d of %d bytes are left: %d, want %d", c.live, c.little, got, c.want)
		}
	}
	(*collector)(nil).expectFirstLook() // $GOGC is set
}
