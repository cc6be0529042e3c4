package record

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/internal/tree"
)

// A killed restore may leave the files to restore, and partial copies from another file system. The
// next run removes them, and no task uses them as outputs.
func TestRemains(t *testing.T) {
	root := t.TempDir()
	for _, p := range []string{"d/dist/app", "d/dist/.bento-tmp-abc", "d/dist/own", "d/.bento-tmp-far", "d/src"} {
		full := filepath.Join(root, p)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	files, err := tree.Walk(t.Context(), root, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		entry journalEntry
		want  []string
	}{
		"restored": {journalEntry{Paths: []string{"d/dist/app", "d/dist/more"}}, []string{"d/dist/.bento-tmp-abc", "d/dist/app", "d/dist/more"}},
		"executed": {
			journalEntry{Dish: "d", Globs: []string{"dist/**"}, Paths: []string{"d/dist", "d/dist/own"}},
			[]string{"d/dist/.bento-tmp-abc", "d/dist/app"},
		},
	} {
		if diff := cmp.Diff(tt.want, slices.Sorted(slices.Values(remains(root, files, tt.entry)))); diff != "" {
			t.Errorf("%s: -want +got:\n%s", name, diff)
		}
	}
}
