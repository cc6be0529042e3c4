package project

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/snapshot"
)

func TestMatch(t *testing.T) {
	for _, tt := range []struct {
		globs string
		yes   string
		no    string
	}{
		{"packages/*", "packages/a packages/.b", "packages packages/a/b apps/a . packages/node_modules"},
		{"./packages/*/", "packages/a", "packages"},
		{"apps/web", "apps/web", "apps apps/web/x"},
		{"packages/** !packages/old/**", "packages/a packages/a/b", "packages/old packages/old/x packages/a/node_modules/b"},
		{"packages/* !packages/a packages/a*", "packages/a packages/b", "x"},
		{"{apps,libs/{core,ui}}/*", "apps/x libs/ui/y", "libs/x"},
		{"* ../x /abs/y [a **/.", "z", "abs/z . ../x"},
		{"!!a !b", "a", "b"},
		{". ./ / *", "a", "."},
	} {
		list := compileGlobs(strings.Fields(tt.globs))
		for _, rel := range strings.Fields(tt.yes) {
			if !list.match(rel) {
				t.Errorf("%s does not name %s", tt.globs, rel)
			}
		}
		for _, rel := range strings.Fields(tt.no) {
			if list.match(rel) {
				t.Errorf("%s names %s", tt.globs, rel)
			}
		}
	}
}

func TestExpandAgreesWithMatch(t *testing.T) {
	root := t.TempDir()
	var dirs []string
	for _, rel := range []string{
		"apps/web", "apps/api/plugins/one", "libs/core/a", "libs/ui/b", "libs/ui/b/node_modules/c",
		"node_modules/x", "single", "tools/.hidden", ".git/hooks",
	} {
		if err := os.MkdirAll(filepath.Join(root, rel), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("..", filepath.Join(root, "apps/loop")); err != nil {
		t.Fatal(err)
	}
	filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err == nil && (d.IsDir() || d.Type()&os.ModeSymlink != 0) {
			rel, _ := filepath.Rel(root, path)
			dirs = append(dirs, rel)
		}
		return err
	})
	for _, globs := range []string{
		"apps/*", "apps/**", "**", "single", "single nothing apps/w*", "{apps,libs/{core,ui}}/*", "* !single",
		"libs/*/* !libs/ui/*", "apps/*/plugins/*", "tools/*", "./apps/web/ apps/*", "",
	} {
		list := compileGlobs(strings.Fields(globs))
		want := []string{}
		for _, rel := range dirs {
			if list.match(rel) {
				want = append(want, rel)
			}
		}
		got := []string{}
		for _, path := range list.expand(snapshot.NewFiles(root), root) {
			rel, _ := filepath.Rel(root, path)
			got = append(got, rel)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", globs, diff)
		}
	}
}

func TestExpandReadsOnlyWhatItNeeds(t *testing.T) {
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "packages/a/src"), 0o755); err != nil {
		t.Fatal(err)
	}
	f := snapshot.NewFiles(root)
	compileGlobs([]string{"packages/*"}).expand(f, root)
	reads := f.Reads()
	if len(reads) != 1 || reads[filepath.Join(root, "packages")].Kind != adapters.Directory {
		t.Errorf("reads %v", reads)
	}
}

func FuzzMatch(f *testing.F) {
	f.Add("packages/*", "packages/a")
	f.Add("!{a,b}/**/c[!d]", "a/x/c")
	f.Fuzz(func(t *testing.T, pattern, rel string) {
		list := compileGlobs([]string{pattern, "**", "!" + pattern})
		if list.match(rel) && !list.below(".") {
			t.Fatal("a member that no walk would find")
		}
		// What is matched must be reachable.
		if compileGlobs([]string{pattern}).match(rel) && filepath.IsLocal(rel) && filepath.Clean(rel) == rel {
			for i, c := range rel {
				if c == '/' && !compileGlobs([]string{pattern}).below(rel[:i]) {
					t.Fatalf("%q names %q but not below %q", pattern, rel, rel[:i])
				}
			}
		}
	})
}
