package tree

import (
	"os"
	"path/filepath"
	"testing"
)

// TestClose checks that closing a tree ends the reads that were started ahead, and closes its root.
func TestClose(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{"a/b", "a/c"} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	tr, err := Walk(t.Context(), root, nil)
	if err != nil {
		t.Fatal(err)
	}
	tr.LookAhead(t.Context())
	tr.TrackedAhead()
	tr.Close()
	tr.Close()
	if err := tr.disk.Reader().Open("", 0); err == nil {
		t.Error("the root is open")
	}
	if tr.Ignored("a/b", false) || tr.Tracked("a/b") {
		t.Error("the rules are gone")
	}
}
