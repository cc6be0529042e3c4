package deno

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/adaptertest"
)

// TestLinksOfTestsThatOthersUse: only what tests alone import is private.
func TestLinksOfTestsThatOthersUse(t *testing.T) {
	const files = `
-- deno.json --
{"workspace": ["./app", "./lib"]}
-- app/deno.json --
{"name": "@ex/app", "exports": {".": "./mod.ts", "./more": "./more.ts"}}
-- app/mod.ts --
import "../lib/mod.ts"; import "../lib/mod_bench.ts";
-- app/more.ts --
-- app/mod_test.ts --
import "@ex/lib"; import "./help_test.ts";
-- lib/deno.json --
{"name": "@ex/lib"}
`
	for _, tt := range []struct {
		from, to string
		private  bool
	}{
		{"", "", true},
		{"-- app/more.ts --", "-- app/more.ts --\nexport * from \"./mod_test.ts\"", false},
		{`"./more.ts"`, `"./help_test.ts"`, false},
	} {
		root := adaptertest.Project(t, strings.Replace(files, tt.from, tt.to, 1))
		want := []adapters.Link{
			{Dir: "lib", File: "app/mod.ts", Line: 1, Deep: true, Loose: true},
			{Package: "deno:ROOT:@ex/lib", File: "app/mod_test.ts", Line: 1, Dev: true, Private: tt.private},
		}
		if diff := cmp.Diff(want, adaptertest.Links(t, newDeno(), root, filepath.Join(root, "app"))); diff != "" {
			t.Errorf("%s: %s", tt.to, diff)
		}
	}
}

// TestAbsoluteImports: text that looks like an import of a web site's path is no link; an absolute path
// of a file in the workspace is one.
func TestAbsoluteImports(t *testing.T) {
	root := adaptertest.Project(t, "-- app/deno.json --\n{}\n-- lib/deno.json --\n{}\n-- lib/mod.ts --\n-- app/mod.ts --\nconst page = `import foo from \"/foo.js\"`;\n")
	if links := adaptertest.Links(t, newDeno(), root, filepath.Join(root, "app")); len(links) != 0 {
		t.Errorf("%+v", links)
	}
	adaptertest.Write(t, filepath.Join(root, "app/mod.ts"), "import \""+filepath.ToSlash(root)+"/lib/mod.ts\";\n")
	links := adaptertest.Links(t, newDeno(), root, filepath.Join(root, "app"))
	if len(links) != 1 || links[0].Dir != "lib" {
		t.Errorf("%+v", links)
	}
}
