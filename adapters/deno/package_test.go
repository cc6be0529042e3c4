package deno

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/adaptertest"
)

// A member of a workspace with a package.json alone is Deno's where no other manager has a lockfile.
func TestPackageMember(t *testing.T) {
	const member = "-- b/package.json --\n{\"name\": \"b\", \"scripts\": {\"test\": \"deno run t.ts\"}}\n-- b/t.ts --\nimport \"@x/a\";\n-- a/package.json --\n{\"name\": \"plain\"}\n" +
		"-- a/deno.json --\n{\"name\": \"@x/a\"}\n-- a/m.ts --\nimport \"b\";\nimport \"npm:b\";\nimport \"node:fs\";\n"
	for name, c := range map[string]struct {
		files string
		want  bool
	}{
		"a member":             {"-- deno.json --\n{\"workspace\": [\"./*\"]}\n-- deno.lock --\n{}\n", true},
		"another lockfile":     {"-- deno.json --\n{\"workspace\": [\"./*\"]}\n-- deno.lock --\n{}\n-- package-lock.json --\n{}\n", false},
		"its own lockfile":     {"-- deno.json --\n{\"workspace\": [\"./*\"]}\n-- deno.lock --\n{}\n-- b/yarn.lock --\n", false},
		"no lockfile":          {"-- deno.json --\n{\"workspace\": [\"./*\"]}\n", false},
		"a lockfile of a name": {"-- deno.json --\n{\"workspace\": [\"./*\"], \"lock\": \"x.lock\"}\n-- x.lock --\n{}\n", true},
		"not named":            {"-- deno.json --\n{\"workspace\": [\"./a\"]}\n-- deno.lock --\n{}\n", false},
		"no workspace":         {"-- deno.json --\n{}\n-- deno.lock --\n{}\n", false},
	} {
		root, a := adaptertest.Project(t, c.files+member), newDeno()
		if got, err := a.Detect(t.Context(), filepath.Join(root, "b")); got != c.want || err != nil {
			t.Errorf("%s: detected %v, %v", name, got, err)
		}
		if name != "a member" {
			continue
		}
		if diff := cmp.Diff(map[string]string{"test": "deno task test"}, adaptertest.Runs(t, a, filepath.Join(root, "b"))); diff != "" {
			t.Error(diff)
		}
		want := []adapters.Link{{Package: "deno:ROOT:@x/a", File: "b/t.ts", Line: 1}}
		if diff := cmp.Diff(want, adaptertest.Links(t, a, root, filepath.Join(root, "b"))); diff != "" {
			t.Error(diff)
		}
		want = []adapters.Link{{Package: "deno:ROOT:b", File: "a/m.ts", Line: 1}}
		if diff := cmp.Diff(want, adaptertest.Links(t, a, root, filepath.Join(root, "a"))); diff != "" {
			t.Error(diff)
		}
		ans, err := a.Links(t.Context(), filepath.Join(root, "a"))
		if diff := cmp.Diff([]string{"deno:" + root + ":@x/a", "deno:" + root + ":plain"}, ans.Provides); diff != "" || err != nil {
			t.Error(diff, err)
		}
	}
}
