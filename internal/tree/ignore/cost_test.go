package ignore

import (
	"fmt"
	"strings"
	"testing"
)

// The cost of thousands of hostile patterns for one path is limited, and the rules report it.
// Patterns that cannot match are excluded by their words, at no cost.
func TestManyPatternsAreBounded(t *testing.T) {
	var hostile, elsewhere strings.Builder
	for i := range 4000 {
		fmt.Fprintf(&hostile, "**/*a*a*a*a*/**/*b*b*b*b*%s[yz]\n", strings.Repeat("?", i%7))
		fmt.Fprintf(&elsewhere, "**/*a*/*b%d*/**/c*\n", i)
	}
	path := strings.Repeat("aaaaaaaaaaaaaaaa/", 10) + strings.Repeat("b", 60) + "x"
	for name, tt := range map[string]struct {
		text string
		over bool
	}{"hostile": {hostile.String(), true}, "elsewhere": {elsewhere.String(), false}} {
		patterns, b := parse(tt.text), budget{steps: maxStepsOfAll}
		if len(patterns) != 4000 {
			t.Fatalf("%s: %d patterns", name, len(patterns))
		}
		for i := range patterns {
			patterns[i].matchPath(path, &b)
		}
		if tt.over && (b.steps != 0 || !b.over) || !tt.over && (b.steps != maxStepsOfAll || b.over) {
			t.Errorf("%s: %+v is left of %d steps", name, b, maxStepsOfAll)
		}
		var told []string
		rules := (*Rules)(nil).With("d", tt.text).With("d/e", "x\n")
		for range 2 {
			if v := rules.Match("d/e/"+path, false); v != Undecided {
				t.Errorf("%s: %v", name, v)
			}
			if over := rules.Overspent(func(file string) { told = append(told, file) }); over != tt.over {
				t.Errorf("%s: overspent: %v", name, over)
			}
		}
		if got := strings.Join(told, " "); tt.over && got != "d/.gitignore" || !tt.over && got != "" {
			t.Errorf("%s: reported %q", name, got)
		}
	}
}

// The cost of each pattern is charged to the budget of all.
func TestBudgetIsCharged(t *testing.T) {
	b := budget{steps: 1000}
	for range 3 {
		before := b.steps
		if !wildmatch("*a*b", "xxaxxb", true, &b) || b.steps >= before {
			t.Fatalf("%d steps were left, %d are now", before, b.steps)
		}
	}
	if b = (budget{steps: 2}); wildmatch("*a*b", "xxaxxb", true, &b) || !b.over || b.steps != 0 {
		t.Errorf("with 2 steps: %+v", b)
	}
}
