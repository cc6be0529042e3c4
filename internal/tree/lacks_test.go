package tree

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/bentobuild/bento/internal/state"
)

// TestLacks: only a directory whose names were all read lacks a file for certain.
func TestLacks(t *testing.T) {
	root := t.TempDir()
	for path, text := range map[string]string{
		"a/x.txt": "", "a/sub/y": "", "b/.gitignore": "hidden\n", "b/hidden": "", "b/seen": "", ".bento/.gitignore": "*\n",
	} {
		if err := os.MkdirAll(filepath.Join(root, filepath.Dir(path)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, path), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("a", filepath.Join(root, "link")); err != nil {
		t.Fatal(err)
	}
	walk := func() *Tree {
		t.Helper()
		files, err := Walk(t.Context(), root, &Options{State: state.Open(root)})
		if err != nil {
			t.Fatal(err)
		}
		return files
	}
	want := map[string]bool{
		"a/none": true, "none": true, "a/sub/none": true,
		"a/x.txt": false, "a/X.TXT": false, "a/sub": false, "a/SUB": false, // of a file system that ignores case
		"b/none": false, "b/hidden": false, // the walk left out a name
		"link/none": false, "none/none": false, "a/x.txt/none": false, // no walked directory
		".git": false, "a/.git": false, ".bento": false,
	}
	files := walk()
	for path, lacks := range want {
		if got := files.Lacks(path); got != lacks {
			t.Errorf("%s: %t, want %t", path, got, lacks)
		}
		if e, known := files.Look(path); (known && e.Kind == 0) != lacks {
			t.Errorf("%s: Look returns %v, %t; want that it is missing: %t", path, e, known, lacks)
		}
	}
	for path, kind := range map[string]Kind{"": Dir, "a": Dir, "a/sub": Dir, "a/sub/y": File, "link": Link, "b/seen": File} {
		if e, known := files.Look(path); !known || e.Kind != kind {
			t.Errorf("%q: Look returns %v, %t; want kind %d", path, e, known, kind)
		}
	}
	if err := os.RemoveAll(filepath.Join(root, "a/sub")); err != nil {
		t.Fatal(err)
	}
	if err := files.Apply(t.Context(), []string{"a/sub"}); err != nil {
		t.Fatal(err)
	}
	if files.Lacks("a/none") {
		t.Error("a directory that has changed since the walk counts as read")
	}
}
