package ignore

import (
	"fmt"
	"strings"
	"testing"
)

// What thousands of hostile patterns cost for one path is bounded, and those that cannot
// match are told apart by their words, at no cost.
func TestManyPatternsAreBounded(t *testing.T) {
	var hostile, elsewhere strings.Builder
	for i := range 4000 {
		fmt.Fprintf(&hostile, "**/*a*a*a*a*/**/*b*b*b*b*%s\n", strings.Repeat("?", i%7))
		fmt.Fprintf(&elsewhere, "**/*a*/*b%d*/**/c*\n", i)
	}
	path := strings.Repeat("aaaaaaaaaaaaaaaa/", 10) + strings.Repeat("b", 60)
	for name, tt := range map[string]struct {
		text string
		most int
	}{"hostile": {hostile.String(), maxStepsOfAll}, "elsewhere": {elsewhere.String(), 0}} {
		patterns, budget := parse(tt.text), maxStepsOfAll
		if len(patterns) != 4000 {
			t.Fatalf("%s: %d patterns", name, len(patterns))
		}
		for i := range patterns {
			patterns[i].matchPath(path+"x", &budget)
		}
		if spent := maxStepsOfAll - budget; spent > tt.most {
			t.Errorf("%s: %d steps, want at most %d", name, spent, tt.most)
		}
	}
}
