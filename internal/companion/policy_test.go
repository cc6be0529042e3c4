package companion

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bentobuild/bento/internal/config"
)

// TestPolicy: the user's policy takes away from what a table grants, and adds nothing.
func TestPolicy(t *testing.T) {
	e := &Extension{ID: "acme.lint", Settings: config.Extension{Grant: []string{"messages.read", "tools.register"}}}
	for text, want := range map[string][]string{
		"": {"messages.read", "tools.register"},
		`{"acme.lint":{"grant":["messages.read","messages.send"]}}`: {"messages.read"},
		`{"acme.lint":{"grant":[]}}`:                                {},
		`{"acme.lint":{}}`:                                          {"messages.read", "tools.register"},
		`{"acme.other":{"enabled":false}}`:                          {"messages.read", "tools.register"},
		`{"acme.lint":{"enabled":false}}`:                           nil,
		`{"acme.lint":{"enabled":1}}`:                               nil,
		`{`:                                                         nil,
	} {
		p := Places{Config: t.TempDir()}
		if text != "" {
			if err := os.WriteFile(filepath.Join(p.Config, policyFile), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		entry, err := p.entry(e)
		if off := err != nil || !entry.Enabled; off != (want == nil) || !off && !slices.Equal(entry.Grant, want) {
			t.Errorf("%s: got %+v, %v, want %q", text, entry, err, want)
		}
	}
	if entry, err := (Places{}).entry(e); err != nil || len(entry.Grant) != 2 {
		t.Errorf("without a place: %+v, %v", entry, err)
	}
}
