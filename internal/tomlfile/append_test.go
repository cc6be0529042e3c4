package tomlfile

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestAppend(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"new", "[p]\nb = 1\n", "[p]\nb = 1\na = [\"x\"]\n"},
		{"new table", "", "[p]\na = [\"x\"]\n"},
		{"empty", "[p]\na = [] # why\n", "[p]\na = [\"x\"] # why\n"},
		{"empty with a comment", "[p]\na = [\n # none\n]\n", "[p]\na = [\"x\"\n # none\n]\n"},
		{"one line", "[p]\na = ['q', \"r]#\"] # why\n", "[p]\na = ['q', \"r]#\", \"x\"] # why\n"},
		{"one line with a comma", "[p]\na = ['q', ] # why\n", "[p]\na = ['q', \"x\", ] # why\n"},
		{"lines", "[p]\na = [\n  'q', # one\n\n  # last\n  'r',   # two ]\n  # end\n]\n", "[p]\na = [\n  'q', # one\n\n  # last\n  'r',   # two ]\n  \"x\",\n  # end\n]\n"},
		{"lines without a comma", "[p]\na = [\n\t'q' # one, two\n]\n", "[p]\na = [\n\t'q', # one, two\n\t\"x\",\n]\n"},
		{"comma on the next line", "[p]\na = [\n  'q'\n  ,'r'\n]\n", "[p]\na = [\n  'q'\n  ,'r',\n  \"x\",\n]\n"},
		{"behind the key", "[p]\na = ['q',\n     'r']\n", "[p]\na = ['q',\n     'r', \"x\"]\n"},
		{"table last", "[p]\na = ['q',\n  {i = \"z\"},\n]\n", "[p]\na = ['q',\n  {i = \"z\"},\n  \"x\",\n]\n"},
		{"CRLF", "[p]\r\na = [\r\n  'q'\r\n]\r\n", "[p]\r\na = [\r\n  'q',\r\n  \"x\",\r\n]\r\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := mustParse(t, tt.text).Append("x", "p", "a")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(got)); diff != "" {
				t.Fatal(diff)
			}
			mustParse(t, string(got))
		})
	}
	for _, text := range []string{"[p]\na = 1\n", "[[p.a]]\n", "p = {}\n"} {
		if got, err := mustParse(t, text).Append("x", "p", "a"); err == nil {
			t.Errorf("%q gave %q", text, got)
		}
	}
}

// The appended string is the last element, and all other elements stay.
func TestAppendProperty(t *testing.T) {
	parts := []string{"'a'", "\"b,]#\"", "'''c\n'''", "{d = [1]}", ",", ", ", ",\n  ", "# x ],\n", "\n", "\r\n", " "}
	rapid.Check(t, func(t *rapid.T) {
		text := "a = ["
		for _, p := range rapid.SliceOfN(rapid.SampledFrom(parts), 0, 9).Draw(t, "parts") {
			text += p
		}
		f, problems := Parse("x", []byte(text+"]\nb = 1\n"))
		if len(problems) > 0 {
			return
		}
		out, err := f.Append("new", "a")
		if err != nil {
			t.Fatal(err)
		}
		g, problems := Parse("x", out)
		if len(problems) > 0 {
			t.Fatalf("%q became %q: %v", text, out, problems)
		}
		before, after := f.Lookup("a").Elems(), g.Lookup("a").Elems()
		if len(after) != len(before)+1 {
			t.Fatalf("%q became %q", text, out)
		}
		if last, _ := after[len(before)].Text(); last != "new" {
			t.Fatalf("%q became %q", text, out)
		}
	})
}
