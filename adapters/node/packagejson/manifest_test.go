package packagejson

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/jsonfile"
)

func TestParseManifest(t *testing.T) {
	m, err := ParseManifest("/w/package.json", []byte(`{
  "name": "@x/app",
  "packageManager": "npm@10.2.0+sha224.abc",
  "scripts": {"build": "tsc"},
  "engines": {"node": ">=18", "vscode": ["x"]},
  "volta": {"node": "20.1.0", "extends": "../package.json"},
  "devEngines": {"runtime": {"name": "node", "version": "^20", "onFail": "warn"}, "packageManager": [{"name": "npm"}]},
  "workspaces": {"packages": ["a/*"], "nohoist": [7]},
  "devDependencies": {"lib": "file:../dev"},
  "dependencies": {
    "lib": "file:../lib"
  },
  "optionalDependencies": [],
  "peerDependencies": null,
  "resolutions": {"lib": "link:../x"},
  "overrides": {"foo": {"bar": "1"}, "baz": "2"}
}`))
	if err != nil {
		t.Fatal(err)
	}
	want := &Manifest{
		Path: "/w/package.json", Name: "@x/app",
		Scripts:        []jsonfile.Entry{{Name: "build", Value: "tsc", Line: 4}},
		PackageManager: jsonfile.Entry{Name: "packageManager", Value: "npm@10.2.0+sha224.abc", Line: 3},
		Engines:        []jsonfile.Entry{{Name: "node", Value: ">=18", Line: 5}},
		Volta:          []jsonfile.Entry{{Name: "node", Value: "20.1.0", Line: 6}, {Name: "extends", Value: "../package.json", Line: 6}},
		DevEngines: []DevEngine{
			{jsonfile.Entry{Name: "node", Value: "^20", Line: 7}, "runtime", "warn"},
			{jsonfile.Entry{Name: "npm", Value: "", Line: 7}, "packageManager", "error"},
		},
		Workspaces: []string{"a/*"},
		Dependencies: []Dependency{
			{jsonfile.Entry{Name: "lib", Value: "file:../lib", Line: 11}, Prod},
			{jsonfile.Entry{Name: "lib", Value: "file:../dev", Line: 9}, Dev},
		},
		Overrides: []jsonfile.Entry{{Name: "lib", Value: "link:../x", Line: 15}, {Name: "baz", Value: "2", Line: 16}},
	}
	if want.Shared = m.Shared; m.Shared == "" {
		t.Error("no digest of what members read")
	}
	if diff := cmp.Diff(want, m); diff != "" {
		t.Error(diff)
	}
	if name, version := m.Manager(); name != "npm" || version != "10.2.0" {
		t.Errorf("Manager gave %q, %q", name, version)
	}
	if d, ok := m.Depends("lib"); !ok || d.Line != 11 {
		t.Errorf("Depends gave %v, %v", d, ok)
	}
	if m.Engine("node").Value != ">=18" || m.VoltaPin("yarn").Line != 0 || m.Script("build").Line != 4 {
		t.Error("entries are not found by name")
	}
}

// TestWrongTypes: an entry that a tool would ignore is an error with its place.
func TestWrongTypes(t *testing.T) {
	for text, want := range map[string]string{
		`[]`:                            `p:1:1: "package.json" is a list, expected an object`,
		`null`:                          `p:1:1: "package.json" is null, expected an object`,
		"{\n \"scripts\": [\"build\"]}": `p:2:13: "scripts" is a list, expected an object of strings`,
		"{\"scripts\": \"build\"}":      `p:1:13: "scripts" is a string, expected an object of strings`,
		"{\"scripts\": {\"a\": \"b\",\n  \"build\": 1}}":       `p:2:12: "scripts.build" is a number, expected a string`,
		"{\"dependencies\": \"none\"}":                         `p:1:18: "dependencies" is a string, expected an object of strings`,
		"{\"devDependencies\": {\"x\": {\"version\": \"1\"}}}": `p:1:27: "devDependencies.x" is an object, expected a string`,
		"{\"name\": 7}":                                         `p:1:10: "name" is a number, expected a string`,
		"{\"workspaces\": \"packages/*\"}":                      `p:1:16: "workspaces" is a string, expected a list of globs`,
		"{\"workspaces\": [1]}":                                 `p:1:17: "workspaces" is a number, expected a list of globs`,
		"{\"workspaces\": {\"packages\": {}}}":                  `p:1:29: "workspaces.packages" is an object, expected a list of globs`,
		"{\"packageManager\": true}":                            `p:1:20: "packageManager" is true or false, expected a string`,
		"{\"engines\": \"node\"}":                               `p:1:13: "engines" is a string, expected an object`,
		"{\"engines\": {\"node\": 18}}":                         `p:1:22: "engines.node" is a number, expected a string`,
		"{\"volta\": {\"yarn\": false}}":                        `p:1:20: "volta.yarn" is true or false, expected a string`,
		"{\"name\": 7, \"scripts\": []}":                        `p:1:10: "name" is a number, expected a string`,
		"{\"name\": 7, \"version\": \"1\", \"scripts\": false}": `p:1:10: "name"`,
	} {
		_, err := ParseManifest("p", []byte(text))
		var problems diagnostics.Problems
		if !errors.As(err, &problems) || !strings.HasPrefix(err.Error(), want) || problems[0].Rule != jsonfile.RuleType {
			t.Errorf("%s gave %v, want %s", text, err, want)
		}
	}
	_, err := ParseManifest("p", []byte(`{"name": 7, "scripts": false}`))
	var problems diagnostics.Problems
	if !errors.As(err, &problems) || len(problems) != 2 {
		t.Errorf("a problem is missing: %v", err)
	}
	if _, err := ParseManifest("p", []byte(`{"engines": ["node >= 0.6"], "scripts": [], "workspaces": {}, "name": null}`)); err != nil {
		t.Errorf("what npm takes is refused: %v", err)
	}
}

func FuzzManifest(f *testing.F) {
	for _, seed := range []string{`{"scripts": {"a": "b"}, "workspaces": ["x"]}`, `{"scripts": 1, "engines": []}`, `{"devEngines": {"runtime": [{}]}}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := ParseManifest("f", data)
		if (m == nil) == (err == nil) {
			t.Fatalf("%v and %v", m, err)
		}
		var problems diagnostics.Problems
		if err != nil && (!errors.As(err, &problems) || problems[0].Line < 1 || problems[0].Col < 1) {
			t.Fatalf("%v has no place", err)
		}
	})
}
