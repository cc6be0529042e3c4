package denojson

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/jsonfile"
)

func TestParse(t *testing.T) {
	c, err := Parse("/w/deno.jsonc", []byte(`{ // ours
  "name": "@ex/lib", "exports": {".": "./mod.ts"}, "deno": "2.1.0",
  "tasks": {
    "build": "deno bundle mod.ts",
    "all": {"dependencies": ["build"]}, "x": {"command": "echo", "description": "y"},
  },
  "imports": {"a": "../a/mod.ts", "b": null},
  "importMap": "./map.json",
  "workspace": {"members": ["./a", "b",]},
  "links": ["../other"],
  "lock": {"path": "x/deno.lock", "frozen": true},
  "nodeModulesDir": "auto",
}`))
	if err != nil {
		t.Fatal(err)
	}
	want := &Config{
		Path: "/w/deno.jsonc", Name: "@ex/lib", Exports: true, Exported: []string{"./mod.ts"}, Deno: jsonfile.Entry{Name: "deno", Value: "2.1.0", Line: 2},
		Tasks:     []jsonfile.Entry{{Name: "build", Value: "deno bundle mod.ts", Line: 4}, {Name: "all", Value: "", Line: 5}, {Name: "x", Value: "echo", Line: 5}},
		Imports:   []jsonfile.Entry{{Name: "a", Value: "../a/mod.ts", Line: 7}},
		ImportMap: "/w/map.json", Workspace: []string{"./a", "b"}, Links: []jsonfile.Entry{{Name: "", Value: "../other", Line: 10}},
		Lock: "/w/x/deno.lock", NodeModules: true,
	}
	if diff := cmp.Diff(want, c); diff != "" {
		t.Error(diff)
	}
	for text, want := range map[string]string{`{}`: "/w/deno.lock", "": "/w/deno.lock", "\n// Nothing yet.\n": "/w/deno.lock", `{"lock": false}`: "", `{"lock": true}`: "/w/deno.lock", `{"lock": "l"}`: "/w/l"} {
		if c, err := Parse("/w/deno.json", []byte(text)); err != nil || c.Lock != want || c.Workspace != nil {
			t.Errorf("%s: %+v, %v", text, c, err)
		}
	}
}

func TestWrongTypes(t *testing.T) {
	for text, want := range map[string]string{
		"{":                                 "d:1:2: not valid JSON",
		"[]":                                `d:1:1: "d" is a list, expected an object`,
		"{\n\"tasks\": []}":                 `d:2:10: "tasks" is a list, expected an object of commands`,
		`{"tasks": {"a": 1}}`:               `d:1:17: "tasks.a" is a number, expected a command`,
		`{"tasks": {"a": {"command": []}}}`: `d:1:29: "tasks.a.command" is a list, expected a string`,
		`{"imports": {"a": {}}}`:            `d:1:19: "imports.a" is an object, expected a string`,
		`{"workspace": "a"}`:                `d:1:15: "workspace" is a string, expected a list of directories`,
		`{"workspace": {"members": [1]}}`:   `d:1:28: "workspace.members" is a number, expected a list of directories`,
		`{"name": 1}`:                       `d:1:10: "name" is a number, expected a string`,
		`{"a": 1,,}`:                        "d:1:9: not valid JSON",
	} {
		_, err := Parse("d", []byte(text))
		var problems diagnostics.Problems
		if !errors.As(err, &problems) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s gave %v, want %s", text, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{`{"tasks": {"a": "b"}, "workspace": ["./x"],}`, `{"tasks": 1, "lock": {}}`, "// c\n{\"imports\": {\"a\": \"../b\"}}"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := Parse("f", data)
		if (c == nil) == (err == nil) {
			t.Fatalf("%v and %v", c, err)
		}
		var problems diagnostics.Problems
		if err != nil && (!errors.As(err, &problems) || problems[0].Line < 1 || problems[0].Col < 1) {
			t.Fatalf("%v has no place", err)
		}
		_, _ = ParseImportMap("f", data)
	})
}
