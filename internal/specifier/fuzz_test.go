package specifier

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// imported is the expression that All stands for.
var imported = regexp.MustCompile(`(?:\b(?:from|import|require)\s*\(?\s*|@deno-types\s*=\s*|<reference\s+(?:path|types)\s*=\s*)["\']([^"\'\r\n]{1,1000})["\']`)

// FuzzAll holds that All finds what the expression does.
func FuzzAll(f *testing.F) {
	for _, text := range []string{
		`import a from "./a.ts"; import"b"; require ( 'c" ) from '' "x" from""d"`, "// @deno-types = 'a'\n/// <reference  types=\"b\"/> <referencepath='c'",
		"xfrom 'a' _import 'b' \u00e9from 'c' import\n(\f'd'", "from 'a\nb' from 'c'from 'd'", "path='a' = 'b' ( 'c'",
		"from '" + strings.Repeat("\u00e9", maxSpecifier) + "' from '" + strings.Repeat("x", maxSpecifier+1) + "' from '\xff'",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var want, got []string
		for _, at := range imported.FindAllStringSubmatch(text, -1) {
			want = append(want, at[1])
		}
		for from, to := range All(text) {
			got = append(got, text[from:to])
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	})
}
