package config

import (
	"errors"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/config/word"
	"github.com/bentobuild/bento/internal/tomlfile"
	"github.com/bentobuild/bento/internal/tree/glob"
)

// Glob is a pattern as it was written, checked: "!" in front excludes, "//" in
// front (behind a "!") anchors at the workspace root. The Text of one that is wrong
// is empty.
type Glob struct {
	Text string
	Pos  Pos
}

// UnmarshalTOML reads and checks a string.
func (g *Glob) UnmarshalTOML(v *tomlfile.Value) []diagnostics.Diagnostic {
	s, ok := v.Text()
	if !ok {
		return []diagnostics.Diagnostic{v.Expected("a glob")}
	}
	*g = Glob{Text: s, Pos: v.Pos()}
	rule, why := word.BadGlob(s)
	if why == "" {
		return nil
	}
	g.Text = "" // nobody is to stumble over it again
	return []diagnostics.Diagnostic{v.Pos().Error(rule, "glob %q %s", s, why)}
}

// tooMuch tells of the globs, relative to the directory base, that are well formed and
// that the matcher still refuses, and makes them empty: nobody is to stumble over one
// again.
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
