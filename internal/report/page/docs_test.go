package page

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// documented returns the text about the page in docs/commands.md, with single spaces.
func documented(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "commands.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(data), "\n### The page\n")
	section, _, _ = strings.Cut(section, "\n## ")
	return strings.Join(strings.Fields(section), " ")
}

// TestDocumented: docs/commands.md has the limits of the page; TestKeys compares the keys.
func TestDocumented(t *testing.T) {
	for claim, code := range map[string]string{
		"more than 100 dishes":    "data.dishes.length <= 100",
		"more than 60, the graph": "const mostUnfolded = 60;",
	} {
		if !strings.Contains(documented(t), claim) || !strings.Contains(script("list", "graph"), code) {
			t.Errorf("docs/commands.md says %q, and the page %q: one of them lacks it", claim, code)
		}
	}
}
