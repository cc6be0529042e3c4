package packagejson

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/diagnostics"
)

func TestParsePlaces(t *testing.T) {
	v, err := Parse("p.json", []byte("\xef\xbb\xbf{\r\n  \"a\": \"x\",\r\n  \"list\": [1,\r\n    {\"b\" : true}],\n \"a\":\n  \"y\"}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if got := v.Get("a").Text(); got != "y" {
		t.Errorf("of a name that stands twice: %q, want the last", got)
	}
	var got []int
	for _, m := range v.Members() {
		got = append(got, m.Line, m.Value.Line())
	}
	b := v.Get("list").Items()[1]
	got = append(got, b.Line(), b.Get("b").Line())
	if diff := cmp.Diff([]int{5, 6, 3, 3, 4, 4}, got); diff != "" {
		t.Error(diff)
	}
	if !b.Get("b").IsTrue() || v.Get("list", "nothing", "here").Kind() != 0 || v.Get("a").Items() != nil {
		t.Error("values are not what they are")
	}
}

func TestParseRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":                           "p.json:1:1: not valid JSON: unexpected end of JSON input",
		"{\n  \"a\": 1,\n}":          "p.json:3:1: not valid JSON: invalid character '}'",
		"{\"a\": 1 \"b\": 2}":        "p.json:1:9: not valid JSON: invalid character '\"'",
		"{} x":                       "p.json:1:4: not valid JSON",
		"\xff\xfe{\x00}\x00":         "p.json:1:4: not valid JSON: a NUL byte, expected UTF-8 text",
		strings.Repeat("[", 100_000): "p.json:1:10001: not valid JSON: invalid character",
		"{\n\"a\": [1, 2":            "p.json:2:11: not valid JSON: unexpected end",
		"// no\n{}":                  "p.json:1:1: not valid JSON: invalid character '/'",
	} {
		_, err := Parse("p.json", []byte(text))
		var problems diagnostics.Problems
		if !errors.As(err, &problems) || len(problems) != 1 {
			t.Errorf("%.20q gave %v", text, err)
			continue
		}
		if !strings.HasPrefix(err.Error(), want) || problems[0].Rule != RuleSyntax {
			t.Errorf("%.20q gave %q, want %q", text, err, want)
		}
	}
}

func TestParseLoose(t *testing.T) {
	v, err := ParseLoose("tsconfig.json", []byte("// first\n{ /* a */ \"u\": \"http://x/*,*/,}\", /*\n*/\n \"l\": [1, /* , */ 2, // end\n ],\n}\n/**/"))
	if err != nil {
		t.Fatal(err)
	}
	if got := v.Get("u").Text(); got != "http://x/*,*/,}" {
		t.Errorf("u = %q", got)
	}
	if l := v.Get("l"); len(l.Items()) != 2 || l.Line() != 4 {
		t.Errorf("l has %d items in line %d", len(l.Items()), l.Line())
	}
	for _, text := range []string{"{ /* ", "[1,,]", "/", "{\"a\\"} {
		if _, err := ParseLoose("x", []byte(text)); err == nil {
			t.Errorf("%q was accepted", text)
		}
	}
}

func TestParseManifest(t *testing.T) {
	m, err := ParseManifest("/w/package.json", []byte(`{
  "name": "@x/app",
  "packageManager": "npm@10.2.0+sha224.abc",
  "scripts": {"build": "tsc",
     "odd": 3},
  "engines": {"node": ">=18"},
  "volta": {"node": "20.1.0", "extends": "../package.json"},
  "workspaces": {"packages": ["a/*", 7]},
  "devDependencies": {"lib": "file:../dev"},
  "dependencies": {
    "lib": "file:../lib"
  },
  "optionalDependencies": [],
  "peerDependencies": "none"
}`))
	if err != nil {
		t.Fatal(err)
	}
	want := &Manifest{
		Path: "/w/package.json", Name: "@x/app",
		Scripts:        []Entry{{"build", "tsc", 4}},
		PackageManager: Entry{"packageManager", "npm@10.2.0+sha224.abc", 3},
		Node:           Entry{"node", ">=18", 6},
		NPM:            Entry{Name: "npm"},
		Volta:          Entry{"node", "20.1.0", 7},
		Workspaces:     []string{"a/*"},
		Dependencies: []Dependency{
			{Entry{"lib", "file:../lib", 11}, Prod},
			{Entry{"lib", "file:../dev", 9}, Dev},
		},
	}
	if diff := cmp.Diff(want, m); diff != "" {
		t.Error(diff)
	}
	if name, version := m.Manager(); name != "npm" || version != "10.2.0" {
		t.Errorf("Manager gave %q, %q", name, version)
	}
	if d, ok := m.Depends("lib"); !ok || m.At(d.Entry) != "/w/package.json:11" {
		t.Errorf("Depends gave %v, %v", d, ok)
	}
	for _, text := range []string{"[]", "null", `"x"`, "{"} {
		if _, err := ParseManifest("p", []byte(text)); err == nil {
			t.Errorf("%q was accepted", text)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{`{"a": [1, "x", {"b": null}], "a": 2}`, "// c\n{\"a\": 1,}", "\xef\xbb\xbf[]", "{\"\\ud800\": \"/*\"}"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		lines := 1 + strings.Count(string(data), "\n")
		if v, err := Parse("f", data); err == nil {
			checkLines(t, v, lines)
			loose, err := ParseLoose("f", data)
			if err != nil {
				t.Fatalf("strict but not loose: %v", err)
			}
			if diff := cmp.Diff(v, loose, cmp.AllowUnexported(Value{})); diff != "" {
				t.Fatal(diff)
			}
		}
		if v, err := ParseLoose("f", data); err == nil {
			checkLines(t, v, lines)
		} else {
			checkPlace(t, err, lines)
		}
		if m, err := ParseManifest("f", data); err == nil && m == nil {
			t.Fatal("neither manifest nor error")
		}
	})
}

func checkLines(t *testing.T, v *Value, most int) {
	if v.Line() < 1 || v.Line() > most {
		t.Fatalf("line %d of %d", v.Line(), most)
	}
	for _, m := range v.Members() {
		if m.Line > m.Value.Line() {
			t.Fatalf("name in line %d, value in line %d", m.Line, m.Value.Line())
		}
		checkLines(t, m.Value, most)
	}
	for _, item := range v.Items() {
		checkLines(t, item, most)
	}
}

func checkPlace(t *testing.T, err error, most int) {
	var problems diagnostics.Problems
	if !errors.As(err, &problems) || problems[0].Line < 1 || problems[0].Line > most || problems[0].Col < 1 {
		t.Fatalf("the place of %v is not in the file", err)
	}
}
