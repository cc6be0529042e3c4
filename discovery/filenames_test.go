package discovery

import (
	"testing"

	"github.com/bmatcuk/doublestar/v4"
	"pgregory.net/rapid"

	"github.com/bentobuild/bento/adapters"
)

// named is an adapter with a manifest and no answers.
type named struct {
	adapters.Adapter
	globs []string
}

func (n named) Manifest() *adapters.Manifest { return &adapters.Manifest{FingerprintFiles: n.globs} }

// TestMatch checks that a name matches an adapter if and only if the first part of one of its globs
// matches it.
func TestMatch(t *testing.T) {
	globs := []string{"go.mod", "*.gradle", "a*b", "*", "?.x", "[ab].x", "{a,b}.x", `\*.x`, `a\b`, "x]", "gradle/**", "*.x/y"}
	names := []string{"go.mod", "go.mode", "a.gradle", ".gradle", "gradle", "ab", "axb", "axbc", "a.x", "b.x", "c.x", "*.x", `a\b`, "x]", "x", "é.x"}
	rapid.Check(t, func(rt *rapid.T) {
		glob, name := rapid.SampledFrom(globs).Draw(rt, "glob"), rapid.SampledFrom(names).Draw(rt, "name")
		top := map[string]string{"gradle/**": "gradle", "*.x/y": "*.x"}[glob]
		if top == "" {
			top = glob
		}
		want, got := doublestar.MatchUnvalidated(top, name), false
		newFileNames([]adapters.Adapter{named{globs: []string{glob}}}, func(m *adapters.Manifest) []string { return m.FingerprintFiles }).Match(name, func(int) { got = true })
		if got != want {
			rt.Fatalf("%q says something to %q: %t, want %t", name, glob, got, want)
		}
	})
}
