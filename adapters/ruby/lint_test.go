package ruby

import (
	"testing"

	"github.com/bentobuild/bento/adapters/adaptertest"
)

// RuboCop reads options from .rubocop, and no later option takes them back.
func TestLintRewritesNothing(t *testing.T) {
	for options, want := range map[string]struct {
		lint string
		line int
	}{
		"--format simple\n--display-cop-names\n": {"bundle exec rubocop", 0},
		"--format simple\n-A\n":                  {"", 2},
		"--autocorrect-all":                      {"", 1},
		"--display-cop-names --auto-correct":     {"", 1},
		"-x":                                     {"", 1},
	} {
		root := adaptertest.Project(t, "-- Gemfile --\ngem \"rubocop\"\n-- Gemfile.lock --\nGEM\n  specs:\n    rubocop (1.39)\n-- .rubocop --\n"+options)
		a := newRuby()
		if got := adaptertest.Runs(t, a, root)["lint"]; got != want.lint {
			t.Errorf("%q: lint is %q, want %q", options, got, want.lint)
		}
		line := 0
		for _, w := range adaptertest.Tasks(t, a, root).Warnings {
			if w.Rule == RuleRewrites {
				line = w.Line
			}
		}
		if line != want.line {
			t.Errorf("%q: a warning for line %d, want %d", options, line, want.line)
		}
	}
}
