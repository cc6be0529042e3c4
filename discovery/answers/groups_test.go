package answers

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestGroups checks that the groups of each list have exactly the members of the list, and that no two groups
// are in the same lists.
func TestGroups(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 20).Draw(rt, "n")
		numbers := rapid.SliceOfDistinct(rapid.IntRange(0, n-1), rapid.ID[int])
		lists := rapid.SliceOfN(numbers, 0, 6).Draw(rt, "lists")
		all := make([]int, n)
		for i := range all {
			all[i] = i
		}
		lists = append(lists, all)
		want := make([][]int, len(lists))
		for i, list := range lists {
			want[i] = slices.Sorted(slices.Values(list))
		}
		groups := group(lists, n)
		same := make(map[string]bool)
		in := make([][]byte, len(groups))
		for i, list := range lists {
			var got []int
			for _, g := range list {
				got = append(got, groups[g]...)
				in[g] = append(in[g], byte(i))
			}
			if slices.Sort(got); !slices.Equal(got, want[i]) {
				rt.Fatalf("list %d: want %v, got %v", i, want[i], got)
			}
		}
		for _, lists := range in {
			if same[string(lists)] {
				rt.Fatalf("two groups are in the same lists: %v", groups)
			}
			same[string(lists)] = true
		}
	})
}
