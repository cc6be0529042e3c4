package companion

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bentobuild/bento/internal/config"
	sep "github.com/bentobuild/bento/plugin/sep/manifest"
)

// TestPolicy: the user's policy can remove permissions that a table grants, and adds none.
func TestPolicy(t *testing.T) {
	granting := func() *Extension {
		e := &Extension{ID: "acme.lint", Status: Ready, SEP: &sep.Manifest{}, Settings: config.Extension{Grant: []string{"messages.read", "tools.register"}}}
		e.SEP.Permissions = append([]string{"messages.send"}, e.Settings.Grant...)
		e.weigh()
		return e
	}
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
		e := granting()
		p.restrain(e)
		if off := e.Status != Ready; off != (want == nil) || !off && !slices.Equal(e.entry().Grant, want) {
			t.Errorf("%s: got %s, %+v, %v, want %q", text, e.Status, e.entry(), e.Problem, want)
		}
		if e.Status != Ready && e.Problem == nil {
			t.Errorf("%s: %s without a problem", text, e.Status)
		}
	}
	e := granting()
	Places{}.restrain(e)
	if len(e.entry().Grant) != 2 {
		t.Errorf("without a place: %+v", e.entry())
	}
}
