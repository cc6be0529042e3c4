package parse

import (
	"slices"
	"strings"
	"testing"
)

func TestLines(t *testing.T) {
	got := slices.Collect(linesOf([]byte("a\r\n\x1b[31mb\x1b[0m\n\n"), []byte("c")))
	if want := []string{"a", "b", "", "c"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	long := []byte(strings.Repeat("x", maxInput) + "\nlast\n")
	if got := slices.Collect(linesOf(long)); !slices.Equal(got, []string{"last"}) {
		t.Errorf("%d lines", len(got))
	}
	if got := slices.Collect(linesOf([]byte("\n" + strings.Repeat("x", 2*maxLine)))); len(got) != 2 || len(got[1]) != maxLine {
		t.Errorf("%d lines", len(got))
	}
}

func TestDocuments(t *testing.T) {
	for text, want := range map[string][]string{
		`{"a":1}`:                      {`{"a":1}`},
		"noise {\"a\":1}":              nil,
		"noise {\"mark\":1} {\"b\":2}": {`{"mark":1}`},
		"[INFO]\n  [{\"a\":[1]}]\nend": {`[{"a":[1]}]`},
		"{\"a\":\n{\"b\":2}\n{}":       {`{"b":2}`, `{}`},
		"[{\"mark\":1},{\"mark\":2}":   {`{"mark":1}`, `{"mark":2}`},
		"[1,2]\n[[1]]\n[]":             {`[]`},
	} {
		var got []string
		for doc := range documents(`{"mark"`, []byte(text)) {
			got = append(got, string(doc))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestEachLeavesOutWrongTypes(t *testing.T) {
	type thing struct {
		A int
		B string
	}
	got := eachOf[thing]([]byte(`[{"a":"x","b":"y"},7,{"a":1e99,"b":"z"},{"a":2}]`))
	if want := []thing{{0, "y"}, {}, {0, "z"}, {2, ""}}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestClean(t *testing.T) {
	for text, want := range map[string]string{
		" a\x00\x07b\x1b[1mc\r\n\td ": "abc\n\td",
		"\xff":                        "\uFFFD",
		"\x1b]8;;http://x\x07y":       "y",
		"12345678901":                 "1234567…",
		"123456éééé":                  "123456…",
	} {
		if got := cleanText(text, 10); got != want {
			t.Errorf("Clean(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestBasesAbove(t *testing.T) {
	for _, c := range []struct {
		member, file string
		want         []string
	}{
		{"/w/lib", "lib/src/a.rs", []string{"/w"}},
		{"/w/a/b", "a/b/a.rs", []string{"/w"}},
		{"/lib", "lib/a.rs", []string{"/"}},
		{"/w/lib", "src/a.rs", nil},
		{"/w/mylib", "lib/a.rs", nil},
	} {
		if got := basesAbove(c.member, c.file); !slices.Equal(got, c.want) {
			t.Errorf("%s, %s: got %q, want %q", c.member, c.file, got, c.want)
		}
	}
}
