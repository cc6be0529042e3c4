package sampling

import (
	"flag"
	"slices"
	"testing"
)

// A test is skipped two times in three, and only if BENTO_TEST_SOME is set.
func TestSkip(t *testing.T) {
	ran := func() (n int) {
		for range 300 {
			t.Run("one", func(t *testing.T) { Skip(t, 3); n++ })
		}
		return n
	}
	for _, c := range []struct {
		some, all string
		min, max  int
	}{{"", "", 300, 300}, {"1", "1", 300, 300}, {"1", "", 1, 299}} {
		t.Setenv(someVariable, c.some)
		t.Setenv(allVariable, c.all)
		t.Setenv(seedVariable, "")
		if n := ran(); n < c.min || n > c.max {
			t.Errorf("%+v: %d of 300 ran", c, n)
		}
	}
}

// With -short one case in n is tried, of few cases one.
func TestShort(t *testing.T) {
	t.Setenv(allVariable, "")
	t.Setenv(seedVariable, "")
	before := flag.Lookup("test.short").Value.String()
	defer flag.Set("test.short", before)
	for _, c := range []struct {
		short   string
		n, want int
	}{{"true", 4, 3}, {"true", 100, 1}, {"false", 4, 10}} {
		flag.Set("test.short", c.short)
		if got := Short(t, c.n, make([]int, 10)); len(got) != c.want {
			t.Errorf("%+v: %d cases", c, len(got))
		}
	}
}

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
