package specifier_test

import (
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/bentobuild/bento/internal/specifier"
)

// TestPaths: which files a relative import may mean.
func TestPaths(t *testing.T) {
	for _, c := range []struct{ source, file, not string }{
		{`import a from "./gen/api"`, "/w/src/gen/api.ts", "/w/src/gen/apis.ts"},
		{`export * from '../gen'`, "/w/gen/index.ts", "/w/gen/other.ts"},
		{`require("./gen/api.js")`, "/w/src/gen/api.ts", "/w/src/gen/api.css"},
		{`await import("./a.json")`, "/w/src/a.json", "/w/src/a.graphql"},
		{`import "./schema"`, "/w/src/schema.d.ts", "/w/src/schema.graphql"},
		{`import x from "./a.svg?raw"`, "/w/src/a.svg", "/w/src/a.svg.txt"},
		{`import x from "./[a]{b,c}!.js"`, "/w/src/[a]{b,c}!.ts", "/w/src/ab!.ts"},
		{`import "."`, "/w/src/index.ts", "/w/src/a.ts"},
	} {
		list := specifier.Paths("/w/src/main.ts", []byte("\n"+c.source))
		if len(list) != 1 || list[0].Line != 2 {
			t.Fatalf("%s: %+v", c.source, list)
		}
		matches := func(file string) bool {
			rest, below := strings.CutPrefix(file, list[0].Path+"/")
			return below && doublestar.MatchUnvalidated(list[0].Glob, rest)
		}
		if !matches(c.file) || matches(c.not) {
			t.Errorf("%s: %+v", c.source, list)
		}
	}
	for _, source := range []string{`import "react"`, `import "/abs"`, `import "#a"`, "import \"./\x00\"", `"./a"`} {
		if list := specifier.Paths("/w/src/main.ts", []byte(source)); len(list) > 0 {
			t.Errorf("%s: %+v", source, list)
		}
	}
}

// FuzzPaths reads any bytes as a source. Every result is a valid glob below an absolute path.
func FuzzPaths(f *testing.F) {
	f.Add("import './a.js'; export * from '..'; require(\"./{[*\\\\\")")
	f.Add("import '././/../../../../../..//'")
	f.Fuzz(func(t *testing.T, text string) {
		for _, e := range specifier.Paths("/w/src/main.ts", []byte(text)) {
			if !path.IsAbs(e.Path) || filepath.Clean(e.Path) != e.Path || e.Line < 1 || !doublestar.ValidatePattern(e.Glob) || strings.HasPrefix(e.Glob, "!") {
				t.Fatalf("%+v", e)
			}
		}
	})
}
