package report

import (
	"strings"
	"testing"

	"github.com/bentobuild/bento/diagnostics"
)

// Equal problems of several dishes are joined, at the place of the first. Equal problems of one dish are not.
func TestAlike(t *testing.T) {
	problem := func(dish, file, message, alike string) diagnostics.Diagnostic {
		return diagnostics.Diagnostic{File: file, Severity: diagnostics.Error, Rule: "r", Message: message, Dish: dish, Alike: alike, Hint: "get it"}
	}
	var out strings.Builder
	WriteProblems(&out, Style{}, []diagnostics.Diagnostic{
		problem("", "bento.toml", "first", ""),
		problem("d", "d", "d needs uv", "need uv"),
		problem("one", "one/a", "one takes in a", "take in files"),
		problem("a", "a", "a needs uv", "need uv"),
		problem("one", "one/b", "one takes in b", "take in files"),
		problem("c", "c", "c needs uv", "need uv"),
		problem("b", "b", "b needs uv", "need uv"),
		problem("x", "bento.toml", "x requires go 2", "require go 2"),
		problem("y", "bento.toml", "y requires go 2", "require go 2"),
	})
	want := `bento: error: bento.toml: first
bento:   get it
bento: error: 4 dishes need uv: a, b, c and 1 more
bento:   get it
bento: error: one/a: one takes in a
bento:   get it
bento: error: one/b: one takes in b
bento:   get it
bento: error: bento.toml: 2 dishes require go 2: x, y
bento:   get it
`
	if out.String() != want {
		t.Errorf("got:\n%s\nwant:\n%s", out.String(), want)
	}
}
