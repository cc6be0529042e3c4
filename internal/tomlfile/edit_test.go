package tomlfile

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestSet(t *testing.T) {
	tests := []struct {
		name, text string
		key        []string
		value      any
		want       string
	}{
		{"replace", "# top\na = 1 # why\nb = 2\n", []string{"a"}, "x", "# top\na = \"x\" # why\nb = 2\n"},
		{"replace array", "[t]\na = [\n 1, # one\n]\nb = 2\n", []string{"t", "a"}, []string{"q", "\""}, "[t]\na = [\"q\", \"\\\"\"]\nb = 2\n"},
		{"replace inline", "a = {b = 1, c = [2]}\n", []string{"a", "c"}, true, "a = {b = 1, c = true}\n"},
		{"add", "[t]\na = 1 # one\n\n# next\n[u]\n", []string{"t", "b"}, 2, "[t]\na = 1 # one\nb = 2\n\n# next\n[u]\n"},
		{"add to empty table", "[t]\n[u]\n", []string{"t", "b"}, 2, "[t]\nb = 2\n[u]\n"},
		{"add without newline", "[t]", []string{"t", "b"}, 2, "[t]\nb = 2\n"},
		{"add to root", "a = 1\n[t]\n", []string{"b"}, 2, "a = 1\nb = 2\n[t]\n"},
		{"first", "", []string{"b"}, 2, "b = 2\n"},
		{"new table", "a = 1\n", []string{"t", "x y"}, 2, "a = 1\n\n[t]\n\"x y\" = 2\n"},
		{"table in between", "[t.u]\na = 1\n", []string{"t", "b"}, 2, "[t.u]\na = 1\n\n[t]\nb = 2\n"},
		{"CRLF and mark", "\xef\xbb\xbf[t]\r\na = 1\r\n", []string{"t", "b"}, 2, "\xef\xbb\xbf[t]\r\na = 1\r\nb = 2\r\n"},
		{"element", "[[t]]\na = 1\n[[t]]\na = 2\n", []string{"t", "0", "b"}, 2, "[[t]]\na = 1\nb = 2\n[[t]]\na = 2\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := mustParse(t, tt.text).Set(tt.value, tt.key...)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(got)); diff != "" {
				t.Fatal(diff)
			}
			mustParse(t, string(got))
		})
	}
}

func TestSetRefuses(t *testing.T) {
	f := mustParse(t, "a = {b = 1}\nc = [1]\nd.e = 1\n[t]\n")
	for _, key := range [][]string{{}, {"t"}, {"a", "x"}, {"c", "0"}, {"c", "x"}, {"d", "x"}, {"a", "b", "c"}} {
		if out, err := f.Set(1, key...); err == nil {
			t.Errorf("Set(%q) gave %q", key, out)
		}
	}
	if _, err := f.Set(1.5, "x"); err == nil {
		t.Error("a float was accepted")
	}
}

// Parse returns the value that Set has set, and no other value changes.
func TestSetProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key := rapid.SliceOfN(rapid.StringN(0, 5, -1), 1, 3).Draw(t, "key")
		value := rapid.StringN(0, 20, -1).Draw(t, "value")
		f, _ := Parse("x", []byte("# c\nother = 1\n[t]\nx = 2\n"))
		out, err := f.Set(value, key...)
		if err != nil {
			return
		}
		g, problems := Parse("x", out)
		if g == nil {
			t.Fatalf("%q: %v", out, problems)
		}
		if got, _ := g.Lookup(key...).Text(); got != value {
			t.Fatalf("%q gives %q", out, got)
		}
	})
}
