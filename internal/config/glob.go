package config

import (
	"errors"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/tomlfile"
	"github.com/bentobuild/bento/internal/tree/glob"
)

// Glob is a checked pattern as written: "!" in front excludes, "//" in front (after a "!") anchors
// it at the workspace root. A wrong one has an empty Text.
type Glob struct {
	Text string
	Pos  Pos
}

// Shape returns the schema.
func (*Glob) Shape() tomlfile.Schema {
	return tomlfile.Schema{"type": "string", "minLength": 1, "maxLength": maxGlob}
}

// UnmarshalTOML reads and checks a string.
func (g *Glob) UnmarshalTOML(v *tomlfile.Value) []diagnostics.Diagnostic {
	s, ok := v.Text()
	if !ok {
		return []diagnostics.Diagnostic{v.Expected("a glob")}
	}
	*g = Glob{Text: s, Pos: v.Pos()}
	rule, why := badGlob(s)
	if why == "" {
		return nil
	}
	g.Text = "" // so that no later check reports it again
	return []diagnostics.Diagnostic{v.Pos().Error(rule, "glob %q %s", s, why)}
}

// tooMuch reports well-formed globs, relative to the directory base, that the matcher still
// refuses. It empties them, so that no later check reports one again.
func tooMuch(base string, globs []Glob) (problems []diagnostics.Diagnostic) {
	for i, g := range globs {
		if g.Text == "" {
			continue
		}
		var bad *glob.Error
		if _, err := glob.Compile(base, []string{g.Text}); errors.As(err, &bad) {
			p := g.Pos.Error(RuleGlob, "glob %q: %s", bad.Glob, bad.Reason)
			p.Hint = bad.Hint
			problems = append(problems, p)
			globs[i].Text = ""
		}
	}
	return problems
}
