package tomlfile

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bentobuild/bento/internal/growth"
)

// parsed parses a document and reads all of its values.
func parsed(data []byte) any {
	f, problems := ParseManifest("x.toml", data)
	if f == nil {
		return problems
	}
	var all []any
	var walk func(v *Value)
	walk = func(v *Value) {
		all = append(all, v.Pos(), v.KeyPos(), v.Any())
		for _, name := range v.Keys() {
			walk(v.Child(name))
		}
		for _, e := range v.Elems() {
			walk(e)
		}
	}
	walk(f.Root())
	return all
}

// The cost of reading a document with n entries grows at most like n log n, and so does that of an edit.
func TestReadingGrowsWithTheFile(t *testing.T) {
	decoded := func(data []byte) any {
		f, problems := ParseManifest("x.toml", data)
		if f == nil {
			return problems
		}
		var into struct {
			Table map[string]At[string] `toml:"t"`
			Tasks map[string]struct {
				Run string `toml:"run"`
			} `toml:"tasks"`
		}
		return f.Decode(&into)
	}
	edited := func(data []byte) any {
		f, problems := ParseManifest("x.toml", data)
		if f == nil {
			return problems
		}
		out, err := f.Set("1", "t", "new")
		more, err2 := f.Append("x", "list")
		return []any{out, more, err, err2}
	}
	list := growth.List
	growth.Check(t, map[string]growth.Reader{
		"keys":           growth.Of(parsed, list("", "k%d = 1\n", "", "")),
		"dotted keys":    growth.Of(parsed, list("", "a.b.k%d.c = 1\n", "", "")),
		"tables":         growth.Of(parsed, list("", "[t%d]\nk = 1\n", "", "")),
		"tables below":   growth.Of(parsed, list("", "[t.u.t%d]\nk = 1\n", "", "")),
		"tables in turn": growth.Of(parsed, list("[[a]]\n", "[a.t%d]\nk = 1\n", "", "")),
		"arrays":         growth.Of(parsed, list("", "[[a]]\nk = %d\n", "", "")),
		"many arrays":    growth.Of(parsed, list("", "[[a%d]]\nk = %d\n", "", "")),
		"array":          growth.Of(parsed, list("a = [", "\"x%d\"", ",\n", "]\n")),
		"inline tables":  growth.Of(parsed, list("a = [", "{k%d = 1, b.c = 2}", ",", "]\n")),
		"inline table":   growth.Of(parsed, list("a = {", "k%d = 1", ",", "}\n")),
		"text":           growth.Of(parsed, list("a = \"\"\"\n", "line %d \\u00e9\n", "", "\"\"\"\n")),
		"comments":       growth.Of(parsed, list("", "# line %d\n", "", "")),
		"long line":      growth.Of(parsed, func(n int) string { return "a = [" + strings.Repeat("1,", n) + "]\n" }),
		"nested":         growth.Of(parsed, func(n int) string { return fmt.Sprintf("a = %s1%s\n", strings.Repeat("[", n), strings.Repeat("]", n)) }),
		"long key":       growth.Of(parsed, func(n int) string { return "a" + strings.Repeat(".a", n) + " = 1\n" }),
		"faults":         growth.Of(parsed, list("", "k%d = \n", "", "")),
		"twice":          growth.Of(parsed, list("", "[t]\nk = %d\n", "", "")),
		"decoded":        growth.Of(decoded, list("[t]\n", "k%d = \"x\"\n", "", "")),
		"decoded tables": growth.Of(decoded, list("", "[tasks.t%d]\nrun = \"x\"\n", "", "")),
		"wrong types":    growth.Of(decoded, list("[t]\n", "k%d = 1\n", "", "")),
		"unknown keys":   growth.Of(decoded, list("", "[tasks.t%d]\nrum = 1\n", "", "")),
		"edited":         growth.Of(edited, list("list = []\n[t]\n", "k%d = 1\n", "", "")),
	})
}
