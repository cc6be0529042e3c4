package plan

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/internal/dish"
)

// TestFilters: a filter that is written out selects members by their directories, and one that only the
// program can evaluate selects all.
func TestFilters(t *testing.T) {
	root := &dish.Dish{Path: "js"}
	members := []*dish.Dish{{Path: "js/docs"}, {Path: "js/packages/a"}, {Path: "js/packages/a/sub"}, {Path: "js/packages/b"}}
	for text, want := range map[string]string{
		"pnpm -r --filter='./packages/*' run build":               "a a/sub b",
		"pnpm -r --filter ./packages/* run build":                 "a a/sub b",
		"pnpm -F ./packages/a build":                              "a a/sub",
		"pnpm -F ./packages/a/ -F ./docs build":                   "docs a a/sub",
		"pnpm --filter=!./docs build":                             "a a/sub b",
		"turbo run build --filter=./packages/b":                   "b",
		"npm run build -w packages/b -w docs":                     "docs b",
		"bun run --filter ./packages/b build":                     "b",
		"turbo run build -F ./packages/b && nx run-many -t build": "docs a a/sub b",
		"pnpm -F ./packages/b build && pnpm -F ./docs build":      "docs b",
		"yarn workspace packages/b run build":                     "b",
		"pnpm -r build":                                           "docs a a/sub b",
		"pnpm --filter=...[origin/main] build":                    "docs a a/sub b",
		"pnpm --filter=./packages/a... build":                     "docs a a/sub b",
		"turbo build --filter={./packages/*}":                     "docs a a/sub b",
		"turbo build --filter=$PACKAGE":                           "docs a a/sub b",
		"npm run build --workspaces":                              "docs a a/sub b",
		"pnpm -r build -- --filter=./packages/a":                  "docs a a/sub b",
		"pnpm -F none build":                                      "",
	} {
		filters, ok := fansOut(text, func(string) string { return "" })
		if !ok {
			t.Errorf("%q does not hand on", text)
		}
		var got []string
		for _, m := range handedTo(root, filters, members) {
			got = append(got, strings.TrimPrefix(strings.TrimPrefix(m.Path, "js/"), "packages/"))
		}
		if diff := cmp.Diff(want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
}

// TestFiltersOfNames: a "*" in the name of a package also matches a scope.
func TestFiltersOfNames(t *testing.T) {
	for _, c := range []struct {
		selector, name string
		want           bool
	}{
		{"*", "a", true}, {"*", "@scope/a", true}, {"*-web", "@scope/a-web", true}, {"@scope/*", "@scope/a", true}, {"@*/a", "@scope/a", true},
		{"@other/*", "@scope/a", false}, {"*-web", "@scope/web-a", false}, {"a", "@scope/a", false}, {"a", "", false}, {"a[", "a[", false},
	} {
		if got := matchesName(c.selector, c.name); got != c.want {
			t.Errorf("%q selects %q: %t, want %t", c.selector, c.name, got, c.want)
		}
	}
}
