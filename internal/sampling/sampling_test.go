package sampling

import (
	"slices"
	"testing"
)

func TestOf(t *testing.T) {
	t.Setenv(allVariable, "")
	t.Setenv(seedVariable, "7")
	all := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
	sample := Of(t, 4, all)
	if len(slices.Compact(slices.Clone(sample))) != 4 || !slices.IsSorted(sample) || sample[0] < 0 || sample[3] > 9 {
		t.Errorf("got %v, want 4 of the cases in their order", sample)
	}
	if again := Of(t, 4, all); !slices.Equal(again, sample) {
		t.Errorf("got %v, want %v by the same seed", again, sample)
	}
	t.Setenv(seedVariable, "")
	seen := make(map[int]bool)
	for range 100 {
		for _, n := range Of(t, 4, all) {
			seen[n] = true
		}
	}
	if len(seen) != len(all) {
		t.Errorf("100 samples have %d of %d cases", len(seen), len(all))
	}
	if got := Of(t, 20, all); !slices.Equal(got, all) {
		t.Errorf("got %v of fewer cases", got)
	}
	t.Setenv(allVariable, "1")
	if got := Of(t, 4, all); !slices.Equal(got, all) {
		t.Errorf("got %v, want all", got)
	}
}
