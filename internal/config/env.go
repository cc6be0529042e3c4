package config

import (
	"strings"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/tomlfile"
)

// Pattern is the name of an environment variable, or PREFIX_*.
type envPattern string

// Shape returns the schema.
func (*envPattern) Shape() tomlfile.Schema {
	return tomlfile.Schema{"type": "string", "minLength": 1}
}

// UnmarshalTOML reads and checks a pattern.
func (p *envPattern) UnmarshalTOML(v *tomlfile.Value) []diagnostics.Diagnostic {
	s, ok := v.Text()
	if !ok {
		return []diagnostics.Diagnostic{v.Expected("the name of a variable")}
	}
	*p = envPattern(s)
	if s == "*" {
		return []diagnostics.Diagnostic{v.Pos().Error(diagnostics.RuleInvalid, `"*" passes every variable, expected a name or PREFIX_*`).
			WithHint(`for everything say env = "inherit" in [defaults]`)}
	}
	return badName(v.Pos(), strings.TrimSuffix(s, "*"), "a name or PREFIX_*")
}

// Names returns patterns as strings.
func envNames(patterns []envPattern) []string {
	var names []string
	for _, p := range patterns {
		names = append(names, string(p))
	}
	return names
}

func badName(pos diagnostics.Pos, name, want string) []diagnostics.Diagnostic {
	if name != "" && !strings.ContainsFunc(name, control) && !strings.ContainsAny(name, "=* $") {
		return nil
	}
	return []diagnostics.Diagnostic{pos.Error(diagnostics.RuleInvalid, "%q is no name of a variable, expected %s", name, want)}
}

// Vars is a task's env: names of variables that are ingredients, as NAME or PREFIX_*, or a table of values.
type envVars struct {
	Names []string
	Set   map[string]string
}

// Shape returns the schema.
func (*envVars) Shape() tomlfile.Schema {
	text := tomlfile.Schema{"type": "string"}
	return tomlfile.Schema{"anyOf": []any{
		tomlfile.Schema{"type": "array", "items": text}, tomlfile.Schema{"type": "object", "additionalProperties": text},
	}}
}

// UnmarshalTOML reads an array or a table.
func (e *envVars) UnmarshalTOML(v *tomlfile.Value) (problems []diagnostics.Diagnostic) {
	switch v.Kind() {
	case tomlfile.Array:
		for _, elem := range v.Elems() {
			name, ok := elem.Text()
			if !ok {
				problems = append(problems, elem.Expected("the name of a variable"))
				continue
			}
			var p envPattern
			problems = append(problems, p.UnmarshalTOML(elem)...)
			e.Names = append(e.Names, name)
		}
	case tomlfile.Table:
		problems = v.Decode(&e.Set)
		for _, name := range v.Keys() {
			problems = append(problems, badName(v.Child(name).KeyPos(), name, "NAME")...)
			if s := e.Set[name]; strings.ContainsRune(s, 0) {
				problems = append(problems, v.Child(name).Pos().Error(diagnostics.RuleInvalid, "%s holds a NUL byte", v.Child(name).Path()))
			}
		}
	default:
		problems = append(problems, v.Expected(`names ["A", "B"] or values {A = "1"}`))
	}
	return problems
}

func control(r rune) bool { return r < ' ' || r == 0x7f }
