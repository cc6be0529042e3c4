package tomlfile

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/diagnostics"
)

type level int

func (l *level) UnmarshalTOML(v *Value) []diagnostics.Diagnostic {
	if s, ok := v.Text(); ok && s == "high" {
		*l = 2
		return nil
	}
	return []diagnostics.Diagnostic{v.Expected(`"high"`)}
}

type sample struct {
	Name   At[string]        `toml:"name"`
	Count  *int              `toml:"count"`
	Small  int8              `toml:"small"`
	Ratio  float64           `toml:"ratio"`
	On     bool              `toml:"on"`
	Words  []At[string]      `toml:"words"`
	Env    map[string]string `toml:"env"`
	Any    any               `toml:"any"`
	Raw    *Value            `toml:"raw"`
	Level  level             `toml:"level"`
	Tasks  Map[taskSample]   `toml:"tasks"`
	Nested struct {
		Deep []string `toml:"deep"`
	} `toml:"nested"`
	Skipped string
}

type taskSample struct {
	Run string `toml:"run" also:"command,dependson"`
}

func TestDecode(t *testing.T) {
	f := mustParse(t, `name = "n"
count = 3
small = 4
ratio = 1
on = true
words = ["a", "b"]
env = {B = "2", A = "1"}
any = [1, 2]
raw = 7
level = "high"
[tasks.z]
run = "zz"
[tasks.a]
run = "aa"
[nested]
deep = []
`)
	var got sample
	if problems := f.Decode(&got); len(problems) > 0 {
		t.Fatal(problems)
	}
	if got.Raw == nil || got.Raw.Any() != int64(7) {
		t.Errorf("raw = %v", got.Raw)
	}
	got.Raw = nil
	three := 3
	at := func(line, col int) diagnostics.Pos { return diagnostics.Pos{File: "x.toml", Line: line, Col: col} }
	want := sample{
		Name: At[string]{"n", at(1, 8), true}, Count: &three, Small: 4, Ratio: 1, On: true,
		Words: []At[string]{{"a", at(6, 10), true}, {"b", at(6, 15), true}},
		Env:   map[string]string{"A": "1", "B": "2"}, Any: []any{int64(1), int64(2)}, Level: 2,
		Tasks: Map[taskSample]{{"z", at(11, 8), taskSample{"zz"}}, {"a", at(13, 8), taskSample{"aa"}}},
	}
	want.Nested.Deep = []string{}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestDecodeTellsAllProblems(t *testing.T) {
	f := mustParse(t, `Name = "wrong case"
nam = 1
count = "3"
small = 300
ratio = "x"
on = 1
words = ["a", 2, [3]]
env = {A = 1}
level = "low"
nested = 5
[tasks.a]
rum = "x"
[tasks.c]
dependsOn = 1
"" = 1
[tasks."b c"]
run = 2021-01-01
`)
	var into sample
	got := texts(f.Decode(&into))
	want := []string{
		`x.toml:1:1: unknown key Name (did you mean "name"?)`,
		`x.toml:2:1: unknown key nam (did you mean "name"?)`,
		`x.toml:3:9: count is a string, expected an integer`,
		`x.toml:4:9: small is an integer, expected a smaller one`,
		`x.toml:5:9: ratio is a string, expected a number`,
		`x.toml:6:6: on is an integer, expected true or false`,
		`x.toml:7:15: words[1] is an integer, expected a string`,
		`x.toml:7:18: words[2] is an array, expected a string`,
		`x.toml:8:12: env.A is an integer, expected a string`,
		`x.toml:9:9: level is a string, expected "high"`,
		`x.toml:10:10: nested is an integer, expected a table`,
		`x.toml:12:1: unknown key rum in tasks.a (did you mean "run"?)`,
		`x.toml:14:1: unknown key dependsOn in tasks.c (did you mean "run"?)`,
		`x.toml:15:1: unknown key "" in tasks.c (known: run)`,
		`x.toml:17:7: tasks."b c".run is a date, expected a string`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestDecodeKnownIgnoresOthers(t *testing.T) {
	f := mustParse(t, "other = 1\nname = 2\n[tasks.a]\nx = 1\n")
	var into sample
	want := []string{`x.toml:2:8: name is an integer, expected a string`}
	if diff := cmp.Diff(want, texts(f.DecodeKnown(&into))); diff != "" {
		t.Error(diff)
	}
}
