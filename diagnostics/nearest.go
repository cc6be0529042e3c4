package diagnostics

import (
	"slices"
	"strings"
)

// maxNearest is how many candidates a message names.
const maxNearest = 3

// Nearest returns up to three of candidates that word may be a misspelling of, nearest
// first.
func Nearest(word string, candidates []string) []string {
	type scored struct {
		name string
		dist int
	}
	var near []scored
	low := strings.ToLower(word)
	for _, c := range candidates {
		d := distance(low, strings.ToLower(c))
		shorter := min(len(word), len(c))
		if d <= max(1, shorter/3) && d < shorter || (len(word) >= 3 && strings.Contains(strings.ToLower(c), low)) {
			near = append(near, scored{c, d})
		}
	}
	slices.SortFunc(near, func(a, b scored) int {
		if a.dist != b.dist {
			return a.dist - b.dist
		}
		return strings.Compare(a.name, b.name)
	})
	names := make([]string, 0, maxNearest)
	for _, s := range near {
		if len(names) < maxNearest && !slices.Contains(names, s.name) {
			names = append(names, s.name)
		}
	}
	return names
}

// Suggest returns a hint that names the candidates nearest to word, or, when none is near,
// all of them if they are few; else "".
func Suggest(word string, candidates []string) string {
	if near := Nearest(word, candidates); len(near) > 0 {
		return "did you mean " + quoteList(near, " or ") + "?"
	}
	all := slices.Compact(slices.Sorted(slices.Values(candidates)))
	if len(all) == 0 || len(all) > 20 {
		return ""
	}
	return "known: " + strings.Join(all, ", ")
}

func quoteList(names []string, last string) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = `"` + n + `"`
	}
	if len(quoted) == 1 {
		return quoted[0]
	}
	return strings.Join(quoted[:len(quoted)-1], ", ") + last + quoted[len(quoted)-1]
}

// distance returns the number of insertions, deletions, substitutions and swaps of
// neighbours between a and b. Long words are compared by their first 64 bytes.
func distance(a, b string) int {
	a, b = a[:min(len(a), 64)], b[:min(len(b), 64)]
	prev2, prev, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(prev[j]+1, row[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], prev2[j-2]+1)
			}
		}
		prev2, prev, row = prev, row, prev2
	}
	return prev[len(b)]
}
