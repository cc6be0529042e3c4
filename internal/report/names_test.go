package report

import (
	"fmt"
	"strings"
	"testing"
)

// TestFirstNames: a line of plan -v stays readable even if it names very many dishes.
func TestFirstNames(t *testing.T) {
	var list []string
	for i := range maxNames + 1 {
		list = append(list, fmt.Sprint("d", i))
	}
	list[1] = "odd\n"
	if got := firstNames(list[:2]); strings.ContainsRune(got, '\n') || !strings.HasPrefix(got, "d0, odd") || strings.Contains(got, "more") {
		t.Errorf("%q", got)
	}
	if got := firstNames(list[:maxNames]); !strings.HasSuffix(got, "d18, d19") {
		t.Errorf("%q", got)
	}
	if got := firstNames(list); !strings.HasSuffix(got, "d18, d19 and 1 more") {
		t.Errorf("%q", got)
	}
}
