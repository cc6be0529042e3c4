package tree

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func compile(tb testing.TB, base string, globs ...string) *Set {
	tb.Helper()
	s, err := CompileSet(base, globs)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func selected(t *testing.T, tr *Tree, base string, globs ...string) []string {
	t.Helper()
	list, err := tr.Select(compile(t, base, globs...))
	if err != nil {
		t.Fatal(err)
	}
	return paths(list)
}

// TestSelectIgnored shows which globs match ignored paths.
func TestSelectIgnored(t *testing.T) {
	dir := newRepo(t)
	write(t, dir, ".gitignore", "gen/\n.env\n*.tmp\n!keep.tmp\n")
	for _, name := range []string{"d/gen/a.go", "d/gen/sub/b.go", "d/gen/.git/HEAD", "d/.env", "d/x.tmp", "d/src/y.tmp", "d/keep.tmp", "d/src/a.go", "d/deep/gen/c.go", ".bento/index"} {
		write(t, dir, name, "")
	}
	symlink(t, dir, "d/gen/out", "../src")
	symlink(t, dir, "d/through", "gen")
	tr := walk(t, dir)
	for _, c := range []struct{ globs, want string }{
		{"**", "d/keep.tmp d/src/a.go d/through"},
		{"**/*", "d/keep.tmp d/src/a.go d/through"},
		{"gen", "d/gen/a.go d/gen/out d/gen/sub/b.go"},
		{"gen/", "d/gen/a.go d/gen/out d/gen/sub/b.go"},
		{"gen/**", "d/gen/a.go d/gen/out d/gen/sub/b.go"},
		{"gen/*.go", "d/gen/a.go"},
		{"gen/sub/*", "d/gen/sub/b.go"},
		{"gen/** !gen/sub", "d/gen/a.go d/gen/out"},
		{"gen/out/*", ""},
		{"through/*", ""},
		{"** gen/a.go", "d/gen/a.go d/keep.tmp d/src/a.go d/through"},
		{".env *.tmp", "d/.env d/keep.tmp"},
		{"x.tmp src/*.tmp", "d/x.tmp"},
		{"**/gen/*", ""},
		{"deep/gen/* //d/gen/a.go", "d/deep/gen/c.go d/gen/a.go"},
		{"gen/none gen/none/x", ""},
		{"src/a.go src/a.go", "d/src/a.go"},
		{"!**", ""},
	} {
		got := selected(t, tr, "d", strings.Fields(c.globs)...)
		if diff := cmp.Diff(strings.Fields(c.want), got, cmp.Transformer("", func(l []string) []string { return append([]string{}, l...) })); diff != "" {
			t.Errorf("Select(%q) (-want +got):\n%s", c.globs, diff)
		}
	}
	write(t, dir, "d/gen/new.go", "")
	if got := selected(t, tr, "d", "gen/n*"); got != nil {
		// Not looked at before, so that it is found; what was looked at is kept.
		if diff := cmp.Diff([]string{"d/gen/new.go"}, got); diff != "" {
			t.Error(diff)
		}
	}
	if got := selected(t, tr, "d", "gen/*.go"); len(got) != 1 {
		t.Errorf("looked again without Apply: %q", got)
	}
	if err := tr.Apply(context.Background(), []string{"d"}); err != nil {
		t.Fatal(err)
	}
	if got := selected(t, tr, "d", "gen/*.go"); len(got) != 2 {
		t.Errorf("not looked again after Apply: %q", got)
	}
}

// TestSelectTracked: of an ignored directory with tracked files only these match, and all files if a
// glob names the directory.
func TestSelectTracked(t *testing.T) {
	needGit(t)
	dir := newRepo(t)
	write(t, dir, ".gitignore", "dist\n")
	write(t, dir, "dist/kept", "")
	write(t, dir, "dist/made", "")
	runGit(t, dir, "add", "-f", "dist/kept")
	tr := walk(t, dir)
	for glob, want := range map[string][]string{
		"**": {".gitignore", "dist/kept"}, "dist": {"dist/kept", "dist/made"}, "dist/*": {"dist/kept", "dist/made"}, "dist/made": {"dist/made"}, "d*/*": {"dist/kept"},
	} {
		if diff := cmp.Diff(want, selected(t, tr, "", glob)); diff != "" {
			t.Errorf("Select(%q) (-want +got):\n%s", glob, diff)
		}
	}
}

func TestExpand(t *testing.T) {
	dir := newRepo(t)
	write(t, dir, ".gitignore", "*\n")
	for _, name := range []string{"d/dist/a.js", "d/dist/sub/b.js", "d/x.jar", "d/sub/y.jar", "top/z", "d/dist/.git/HEAD"} {
		write(t, dir, name, "")
	}
	mkdir(t, dir, "d/dist/empty")
	mkdir(t, dir, "d/hollow")
	symlink(t, dir, "d/dist/link", "sub")
	symlink(t, dir, "d/dangling", "nowhere")
	symlink(t, dir, "d/dirlink", "dist")
	for _, c := range []struct{ globs, want string }{
		{"dist", "d/dist/a.js d/dist/empty/ d/dist/link@ d/dist/sub/b.js"},
		{"dist/**", "d/dist/a.js d/dist/empty/ d/dist/link@ d/dist/sub/b.js"},
		{"dist/*", "d/dist/a.js d/dist/empty/ d/dist/link@"},
		{"dist/*.js", "d/dist/a.js"},
		{"*.jar", "d/x.jar"},
		{"**/*.jar //top", "d/sub/y.jar d/x.jar top/z"},
		{"hollow dangling dirlink dirlink/a.js none", "d/dangling@ d/dirlink@ d/hollow/"},
		{"dist/** !**/*.js", "d/dist/empty/ d/dist/link@"},
		{"dist dist/sub", "d/dist/a.js d/dist/empty/ d/dist/link@ d/dist/sub/b.js"},
	} {
		list, err := Expand(dir, compile(t, "d", strings.Fields(c.globs)...))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range list {
			got = append(got, e.Path+map[Kind]string{Dir: "/", Link: "@"}[e.Kind])
		}
		if diff := cmp.Diff(strings.Fields(c.want), got); diff != "" {
			t.Errorf("Expand(%q) (-want +got):\n%s", c.globs, diff)
		}
	}
	if _, err := Expand(filepath.Join(dir, "no"), compile(t, "", "a")); !os.IsNotExist(err) {
		t.Errorf("Expand: %v", err)
	}
}
