package diagnostics

import (
	"slices"
	"testing"
)

func TestNearest(t *testing.T) {
	known := []string{"build", "check", "lint", "test", "golang", "go", "golint"}
	for word, want := range map[string][]string{
		"biuld":  {"build"},
		"tests":  {"test"},
		"golan":  {"golang"},
		"x":      {},
		"Lint":   {"lint", "golint"},
		"lin":    {"lint", "golint"},
		"deploy": {},
	} {
		if got := Nearest(word, known); !slices.Equal(got, want) {
			t.Errorf("Nearest(%q) = %q, want %q", word, got, want)
		}
	}
}

func TestSuggest(t *testing.T) {
	if got, want := Suggest("builf", []string{"build", "built"}), `did you mean "build" or "built"?`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := Suggest("x", []string{"b", "a", "b"}), "known: a, b"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestSortedKeepsEachOnce(t *testing.T) {
	a := Diagnostic{File: "b", Line: 1, Message: "m"}
	b := Diagnostic{File: "a", Line: 2, Message: "m"}
	c := Diagnostic{File: "a", Line: 1, Col: 7, Message: "m"}
	got := Sorted([]Diagnostic{a, b, c, a})
	if want := []Diagnostic{c, b, a}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestWhere(t *testing.T) {
	for want, d := range map[string]Diagnostic{
		"m":        {Message: "m"},
		"f: m":     {File: "f", Message: "m"},
		"f:3: m":   {File: "f", Line: 3, Message: "m"},
		"f:3:4: m": {File: "f", Line: 3, Col: 4, Message: "m"},
	} {
		if got := d.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
