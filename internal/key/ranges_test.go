package key

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/bentobuild/bento/internal/tree"
)

// The digest of a link is unknown: what it leads to is elsewhere. That of nothing is known.
func TestRangeOfALink(t *testing.T) {
	root := t.TempDir()
	if err := os.Symlink("f", filepath.Join(root, "link")); err != nil {
		t.Fatal(err)
	}
	files, err := tree.Walk(t.Context(), root, nil)
	if err != nil {
		t.Fatal(err)
	}
	for at, want := range map[string]bool{"link": false, "missing": true} {
		if got := newRangeDigests(files).Of(at).Known; got != want {
			t.Errorf("%s: known %v, want %v", at, got, want)
		}
	}
}
