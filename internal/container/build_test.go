package container

import (
	"os"
	"path/filepath"
	"testing"
)

// ignoring returns the rules of the text of a .dockerignore.
func ignoring(t testing.TB, text string) func(string) bool {
	t.Helper()
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, ".dockerignore"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	ignored, err := New(Options{Root: root}).ignores(".")
	if err != nil {
		return func(string) bool { return false }
	}
	return ignored
}

// TestIgnores: patterns start at the context, later ones go before earlier ones, and a directory takes its files along.
func TestIgnores(t *testing.T) {
	ignored := ignoring(t, "# comment\n\nnode_modules\n**/*.log\n!keep.log\n/dist\n./tmp/\n*.md\n!docs/*.md\n")
	for p, want := range map[string]bool{
		"node_modules/a/b.js": true, "sub/node_modules/a": false, "x.log": true, "a/b/x.log": true, "keep.log": false, "dist": true, "dist/a": true,
		"a/dist/b": false, "tmp/x": true, "README.md": true, "docs/a.md": false, "main.go": false,
	} {
		if got := ignored(p); got != want {
			t.Errorf("%s: ignored %v, want %v", p, got, want)
		}
	}
}

func FuzzIgnores(f *testing.F) {
	f.Add("a/**/b\n!c\n[", "a/b")
	f.Fuzz(func(t *testing.T, text, p string) {
		if len(text) < 1<<10 {
			ignoring(t, text)(p)
		}
	})
}
