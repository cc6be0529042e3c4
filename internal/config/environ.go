package config

import (
	"strings"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/tomlfile"
)

// envPattern is NAME or PREFIX_*, of an environment variable.
type envPattern string

func (p *envPattern) UnmarshalTOML(v *tomlfile.Value) []diagnostics.Diagnostic {
	s, ok := v.Text()
	if !ok {
		return []diagnostics.Diagnostic{v.Expected("the name of a variable")}
	}
	*p = envPattern(s)
	if s == "*" {
		d := v.Pos().Error(RuleInvalid, `"*" passes every variable, expected a name or PREFIX_*`)
		d.Hint = `for everything say env = "inherit" in [defaults]`
		return []diagnostics.Diagnostic{d}
	}
	return badEnvName(v.Pos(), strings.TrimSuffix(s, "*"), "a name or PREFIX_*")
}

func envNames(patterns []envPattern) []string {
	var names []string
	for _, p := range patterns {
		names = append(names, string(p))
	}
	return names
}

func badEnvName(pos Pos, name, want string) []diagnostics.Diagnostic {
	if name != "" && !hasControl(name) && !strings.ContainsAny(name, "=* $") {
		return nil
	}
	return []diagnostics.Diagnostic{pos.Error(RuleInvalid, "%q is no name of a variable, expected %s", name, want)}
}

// taskEnv is a task's env: names whose values count, or a table of values.
type taskEnv struct {
	names []string
	set   map[string]string
}

func (e *taskEnv) UnmarshalTOML(v *tomlfile.Value) (problems []diagnostics.Diagnostic) {
	switch v.Kind() {
	case tomlfile.Array:
		for _, elem := range v.Elems() {
			name, ok := elem.Text()
			if !ok {
				problems = append(problems, elem.Expected("the name of a variable"))
				continue
			}
			problems = append(problems, badEnvName(elem.Pos(), name, "NAME")...)
			e.names = append(e.names, name)
		}
	case tomlfile.Table:
		problems = v.Decode(&e.set)
		for _, name := range v.Keys() {
			problems = append(problems, badEnvName(v.Child(name).KeyPos(), name, "NAME")...)
			if s := e.set[name]; strings.ContainsRune(s, 0) {
				problems = append(problems, v.Child(name).Pos().Error(RuleInvalid, "%s holds a NUL byte", v.Child(name).Path()))
			}
		}
	default:
		problems = append(problems, v.Expected(`names ["A", "B"] or values {A = "1"}`))
	}
	return problems
}
