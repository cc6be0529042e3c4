package builtin_test

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/builtin"
)

// TestDocs: docs/languages.md names every adapter, and each variable that it passes,
// hashes or sets.
func TestDocs(t *testing.T) {
	data, err := os.ReadFile("../../docs/languages.md")
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	var headings []string
	for line := range strings.Lines(text) {
		if ids, ok := strings.CutPrefix(strings.TrimSpace(line), "## "); ok {
			headings = append(headings, strings.Split(ids, ", ")...)
		}
	}
	words := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" `|,;:…\n", r) })
	for _, a := range builtin.All(adapters.Options{}) {
		m := a.Manifest()
		if !slices.Contains(headings, m.AdapterID) {
			t.Errorf("there is no section %q", m.AdapterID)
		}
		names := slices.Concat(m.PassEnv, m.SteeringEnv)
		for _, name := range slices.Sorted(maps.Keys(m.SetEnv)) {
			if !strings.HasPrefix(name, "npm_config_") || m.AdapterID == "node-npm" { // those of pnpm are said once
				names = append(names, name+"="+m.SetEnv[name])
			}
		}
		for _, name := range names {
			if !slices.Contains(words, name) {
				t.Errorf("%s: %q is not named", m.AdapterID, name)
			}
		}
	}
}
