// Package env reads names, patterns and values of environment variables.
package env

import (
	"strings"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/config/unit"
	"github.com/bentobuild/bento/internal/tomlfile"
)

// Pattern is NAME or PREFIX_*, of an environment variable.
type Pattern string

// UnmarshalTOML reads and checks a pattern.
func (p *Pattern) UnmarshalTOML(v *tomlfile.Value) []diagnostics.Diagnostic {
	s, ok := v.Text()
	if !ok {
		return []diagnostics.Diagnostic{v.Expected("the name of a variable")}
	}
	*p = Pattern(s)
	if s == "*" {
		d := v.Pos().Error(unit.Rule, `"*" passes every variable, expected a name or PREFIX_*`)
		d.Hint = `for everything say env = "inherit" in [defaults]`
		return []diagnostics.Diagnostic{d}
	}
	return badName(v.Pos(), strings.TrimSuffix(s, "*"), "a name or PREFIX_*")
}

// Names gives patterns as strings.
func Names(patterns []Pattern) []string {
	var names []string
	for _, p := range patterns {
		names = append(names, string(p))
	}
	return names
}

func badName(pos tomlfile.Pos, name, want string) []diagnostics.Diagnostic {
	if name != "" && !strings.ContainsFunc(name, control) && !strings.ContainsAny(name, "=* $") {
		return nil
	}
	return []diagnostics.Diagnostic{pos.Error(unit.Rule, "%q is no name of a variable, expected %s", name, want)}
}

// Vars is a task's env: names whose values count, or a table of values.
type Vars struct {
	Names []string
	Set   map[string]string
}

// UnmarshalTOML reads an array or a table.
func (e *Vars) UnmarshalTOML(v *tomlfile.Value) (problems []diagnostics.Diagnostic) {
	switch v.Kind() {
	case tomlfile.Array:
		for _, elem := range v.Elems() {
			name, ok := elem.Text()
			if !ok {
				problems = append(problems, elem.Expected("the name of a variable"))
				continue
			}
			problems = append(problems, badName(elem.Pos(), name, "NAME")...)
			e.Names = append(e.Names, name)
		}
	case tomlfile.Table:
		problems = v.Decode(&e.Set)
		for _, name := range v.Keys() {
			problems = append(problems, badName(v.Child(name).KeyPos(), name, "NAME")...)
			if s := e.Set[name]; strings.ContainsRune(s, 0) {
				problems = append(problems, v.Child(name).Pos().Error(unit.Rule, "%s holds a NUL byte", v.Child(name).Path()))
			}
		}
	default:
		problems = append(problems, v.Expected(`names ["A", "B"] or values {A = "1"}`))
	}
	return problems
}

func control(r rune) bool { return r < ' ' || r == 0x7f }
