package config

import (
	"errors"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/tomlfile"
	"github.com/bentobuild/bento/internal/tree/glob"
)

// globs is a list of globs.
type globs []dish.Glob

// Shape returns the schema.
func (*globs) Shape() tomlfile.Schema { return tomlfile.Schema{"type": "array", "items": globShape()} }

// UnmarshalTOML reads and checks an array of strings.
func (g *globs) UnmarshalTOML(v *tomlfile.Value) (problems []diagnostics.Diagnostic) {
	if v.Kind() != tomlfile.Array {
		return []diagnostics.Diagnostic{v.Expected("an array")}
	}
	*g = make(globs, len(v.Elems()))
	for i, elem := range v.Elems() {
		glob, more := globOf(elem)
		(*g)[i], problems = glob, append(problems, more...)
	}
	return problems
}

// globShape returns the schema of a glob.
func globShape() tomlfile.Schema {
	return tomlfile.Schema{"type": "string", "minLength": 1, "maxLength": maxGlob}
}

// globOf reads and checks a glob.
func globOf(v *tomlfile.Value) (dish.Glob, []diagnostics.Diagnostic) {
	s, ok := v.Text()
	if !ok {
		return dish.Glob{}, []diagnostics.Diagnostic{v.Expected("a glob")}
	}
	if rule, why := badGlob(s); why != "" {
		// Without a text, so that no later check reports it again.
		return dish.Glob{Pos: v.Pos()}, []diagnostics.Diagnostic{v.Pos().Error(rule, "glob %q %s", s, why)}
	}
	return dish.Glob{Text: s, Pos: v.Pos()}, nil
}

// tooMuch reports well-formed globs, relative to the directory base, that the matcher still
// refuses. It empties them, so that no later check reports one again.
func tooMuch(base string, globs []dish.Glob) (problems []diagnostics.Diagnostic) {
	for i, g := range globs {
		if g.Text == "" {
			continue
		}
		var bad *glob.Error
		if _, err := glob.Compile(base, []string{g.Text}); errors.As(err, &bad) {
			problems = append(problems, g.Pos.Error(RuleGlob, "glob %q: %s", bad.Glob, bad.Reason).WithHint(bad.Hint))
			globs[i].Text = ""
		}
	}
	return problems
}
