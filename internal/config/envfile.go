package config

import (
	"path"
	"strings"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/tomlfile"
)

// envFile is the path of an EnvFile, or a table.
type envFile envFileTable

// envFileTable is the schema of an entry of env_files as a table.
type envFileTable struct {
	Path     tomlfile.At[string] `toml:"path" doc:"the file, relative to the dish"`
	Optional bool                `toml:"optional" default:"false" doc:"the file may be missing"`
}

// Shape returns the schema.
func (*envFile) Shape() tomlfile.Schema {
	table := tomlfile.SchemaOf(envFileTable{})
	table["required"] = []string{"path"}
	return tomlfile.Schema{"anyOf": []any{tomlfile.Schema{"type": "string"}, table}}
}

// UnmarshalTOML reads a path or a table.
func (f *envFile) UnmarshalTOML(v *tomlfile.Value) (problems []diagnostics.Diagnostic) {
	switch v.Kind() {
	case tomlfile.String:
		return v.Decode(&f.Path)
	case tomlfile.Table:
		problems = v.Decode((*envFileTable)(f))
		if len(problems) == 0 && !f.Path.Given {
			problems = append(problems, v.Pos().Error(diagnostics.RuleInvalid, `%s has no path, expected { path = ".env", optional = true }`, v.Path()))
		}
		return problems
	}
	return []diagnostics.Diagnostic{v.Expected(`a path, or { path = ".env", optional = true }`)}
}

// check reports a path outside the workspace. A path above the dish is valid.
func (f *envFile) check(dish string) []diagnostics.Diagnostic {
	if !f.Path.Given {
		return nil // reported as a wrong type
	}
	name := f.Path.Value
	joined := path.Join(dish, name)
	if name == "" || strings.ContainsRune(name, 0) || path.IsAbs(name) || joined == ".." || strings.HasPrefix(joined, "../") {
		return []diagnostics.Diagnostic{f.Path.Pos.Error(rulePath, "env_files: %q is no path inside the workspace, expected one relative to the dish", name)}
	}
	return nil
}
