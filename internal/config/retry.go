package config

import (
	"regexp"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/tomlfile"
)

// retry is a number of further attempts, or a table of that number and a condition on the output.
type retry struct {
	times int
	on    string // a regular expression (RE2) for a line; "": any failure
}

// retryTable is the schema of retry as a table.
type retryTable struct {
	Times tomlfile.At[int]    `toml:"times" doc:"the number of further attempts"`
	On    tomlfile.At[string] `toml:"on" doc:"a regular expression (RE2) for a line of the output"`
}

// Shape returns the schema.
func (*retry) Shape() tomlfile.Schema {
	times := tomlfile.Schema{"type": "integer", "minimum": 0, "maximum": maxRetry}
	table := tomlfile.SchemaOf(retryTable{})
	table["required"] = []string{"times", "on"}
	return tomlfile.Schema{"anyOf": []any{times, table}}
}

// UnmarshalTOML reads a number or a table.
func (r *retry) UnmarshalTOML(v *tomlfile.Value) (problems []diagnostics.Diagnostic) {
	var t retryTable
	switch v.Kind() {
	case tomlfile.Table:
		problems = v.Decode(&t)
		if len(problems) == 0 && (!t.Times.Given || !t.On.Given) {
			problems = append(problems, v.Pos().Error(diagnostics.RuleInvalid, `%s is incomplete, expected { times = 2, on = "a regular expression" }`, v.Path()))
		}
	case tomlfile.Integer:
		problems = v.Decode(&t.Times)
	default:
		return []diagnostics.Diagnostic{v.Expected(`a number, or { times = 2, on = "a regular expression" }`)}
	}
	problems = append(problems, checkRange("retry", t.Times, 0, maxRetry)...)
	if _, err := regexp.Compile(t.On.Value); err != nil {
		problems = append(problems, t.On.Pos.Error(diagnostics.RuleInvalid, "retry.on is %q, expected a regular expression: %v", t.On.Value, err))
	} else if t.On.Given && t.On.Value == "" {
		problems = append(problems, t.On.Pos.Error(diagnostics.RuleInvalid, "retry.on is empty, expected a regular expression"))
	}
	if len(problems) == 0 {
		r.times, r.on = t.Times.Value, t.On.Value
	}
	return problems
}
