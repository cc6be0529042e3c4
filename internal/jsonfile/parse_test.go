package jsonfile

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/diagnostics"
)

func TestPlaces(t *testing.T) {
	v, err := Parse("p.json", []byte("\xef\xbb\xbf{\r\n  \"a\": \"x\",\r\n  \"list\": [1,\r\n    {\"b\" : true}],\n \"a\":\n  \"y\"}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if got := v.Get("a").Text(); got != "y" {
		t.Errorf("of a name that stands twice: %q, want the last", got)
	}
	var got []int
	for _, m := range v.Members() {
		got = append(got, m.Line, m.Value.Line(), m.Value.Col())
	}
	b := v.Get("list").Items()[1]
	got = append(got, b.Line(), b.Get("b").Line(), b.Get("b").Col())
	if diff := cmp.Diff([]int{5, 6, 3, 3, 3, 11, 4, 4, 12}, got); diff != "" {
		t.Error(diff)
	}
	if !b.Get("b").IsTrue() || v.Get("list", "nothing", "here").Kind() != 0 || v.Get("a").Items() != nil {
		t.Error("values are not what they are")
	}
	d := v.Get("list").Mistyped("p.json", "list", "an object")
	if got := d.String(); !strings.HasPrefix(got, `p.json:3:11: "list" is a list, expected an object`) {
		t.Error(got)
	}
}

func TestRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":                                       "p.json:1:1: not valid JSON: the file ends, expected a value",
		"{\n  \"a\": 1,\n}":                      "p.json:3:1: not valid JSON: '}', expected a name in quotes",
		"{\"a\": 1 \"b\": 2}":                    "p.json:1:9: not valid JSON: '\"', expected a comma or the end of an object",
		"{\"a\" 1}":                              "p.json:1:6: not valid JSON: '1', expected a colon",
		"[01]":                                   "p.json:1:3: not valid JSON: '1', expected a comma or the end of a list",
		"{} x":                                   "p.json:1:4: not valid JSON: 'x', expected the end of the file",
		"\xff\xfe{\x00}\x00":                     "p.json:1:4: not valid JSON: a NUL byte, expected UTF-8 text",
		strings.Repeat("[", 100_000):             "p.json:1:1002: not valid JSON: nested deeper than 1000",
		"[" + strings.Repeat("1,", 3<<20) + "1]": "p.json:1:4194304: not valid JSON: nested deeper than 1000, or of more than 2097152 values",
		"{\n\"a\": [1, 2":                        "p.json:2:11: not valid JSON: the file ends, expected a comma or the end of a list",
		"// no\n{}":                              "p.json:1:1: not valid JSON: '/', expected a value",
		"\"a\nb\"":                               "p.json:1:3: not valid JSON: '\\n', expected an escape for a control character",
		"\"\\x\"":                                "p.json:1:3: not valid JSON: 'x', expected an escape",
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

func TestLoose(t *testing.T) {
	v, err := ParseLoose("tsconfig.json", []byte("// first\n{ /* a */ \"u\": \"http://x/*,*/,}\", /*\n*/\n \"l\": [1, /* , */ 2, // end\n ],\n}\n/**/"))
	if err != nil {
		t.Fatal(err)
	}
	if got := v.Get("u").Text(); got != "http://x/*,*/,}" {
		t.Errorf("u = %q", got)
	}
	if l := v.Get("l"); len(l.Items()) != 2 || l.Line() != 4 || l.Col() != 7 {
		t.Errorf("l has %d items in line %d, column %d", len(l.Items()), l.Line(), l.Col())
	}
	for _, text := range []string{"{ /* ", "[1,,]", "[,]", "/", "{\"a\\"} {
		if _, err := ParseLoose("x", []byte(text)); err == nil {
			t.Errorf("%q was accepted", text)
		}
	}
}

func TestManyNames(t *testing.T) {
	var b strings.Builder
	for range 3 {
		for c := 'a'; c <= 'z'; c++ {
			b.WriteString(`,"` + string(c) + `": "` + string(c) + `"`)
		}
	}
	v, err := Parse("p", []byte("{"+b.String()[1:]+`, "k": "last"}`))
	if err != nil || len(v.Members()) != 26 || v.Get("k").Text() != "last" || v.Members()[10].Name != "k" {
		t.Errorf("%d members, %v", len(v.Members()), err)
	}
}

// plain returns a value as encoding/json decodes it.
func plain(v *Value) any {
	switch v.Kind() {
	case Object:
		m := make(map[string]any)
		for _, e := range v.Members() {
			m[e.Name] = plain(e.Value)
		}
		return m
	case Array:
		l := make([]any, 0)
		for _, item := range v.Items() {
			l = append(l, plain(item))
		}
		return l
	case String:
		return v.Text()
	case Number:
		return json.Number(v.Literal())
	case Bool:
		return v.IsTrue()
	}
	return nil
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`{"a": [1, "x", {"b": null}], "a": 2}`, "// c\n{\"a\": 1,}", "\xef\xbb\xbf[]", "{\"\\ud800\": \"/*\"}", "[1e5, -0.1, true, \"\xff\"]",
		`{"a\/b": "\/\\c\"d", "e": ["\/\n", "\\u0041", "\u002f\/"]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		lines := 1 + strings.Count(string(data), "\n")
		v, err := Parse("f", data)
		if err == nil {
			checkPlaces(t, v, lines)
			var want any
			d := json.NewDecoder(strings.NewReader(strings.TrimPrefix(string(data), "\xef\xbb\xbf")))
			d.UseNumber()
			if err := d.Decode(&want); err != nil {
				t.Fatalf("encoding/json refuses it: %v", err)
			}
			if diff := cmp.Diff(want, plain(v)); diff != "" {
				t.Fatal(diff)
			}
			loose, err := ParseLoose("f", data)
			if err != nil {
				t.Fatalf("strict but not loose: %v", err)
			}
			if diff := cmp.Diff(v, loose, cmp.AllowUnexported(Value{})); diff != "" {
				t.Fatal(diff)
			}
		} else if json.Valid(data) && strings.Count(string(data), "[")+strings.Count(string(data), "{") < maxDepth {
			t.Fatalf("encoding/json takes it: %v", err)
		}
		if v, err := ParseLoose("f", data); err == nil {
			checkPlaces(t, v, lines)
		} else {
			checkProblem(t, err, lines)
		}
	})
}

func checkPlaces(t *testing.T, v *Value, most int) {
	if v.Line() < 1 || v.Line() > most || v.Col() < 1 {
		t.Fatalf("line %d of %d, column %d", v.Line(), most, v.Col())
	}
	for _, m := range v.Members() {
		if m.Line > m.Value.Line() {
			t.Fatalf("name in line %d, value in line %d", m.Line, m.Value.Line())
		}
		checkPlaces(t, m.Value, most)
	}
	for _, item := range v.Items() {
		checkPlaces(t, item, most)
	}
}

func checkProblem(t *testing.T, err error, most int) {
	var problems diagnostics.Problems
	if !errors.As(err, &problems) || problems[0].Line < 1 || problems[0].Line > most || problems[0].Col < 1 {
		t.Fatalf("the place of %v is not in the file", err)
	}
}

func BenchmarkParse(b *testing.B) {
	data := []byte(`{"packages": [` + strings.Repeat(`{"name": "x", "version": "1.2.3", "dependencies": {"a": "^1.0.0", "b": "~2.0.0"}, "dev": true},
`, 10_000) + `{}]}`)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if _, err := Parse("p", data); err != nil {
			b.Fatal(err)
		}
	}
}
