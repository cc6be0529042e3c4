package outputs_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/cache/outputs"
)

// Leftovers returns the temporary files of a killed restore beside the outputs. Directories and other
// files are not leftovers.
func TestLeftovers(t *testing.T) {
	root := t.TempDir()
	for _, p := range []string{"d/out/.bento-tmp-b", "d/out/a", "d/.bento-tmp-a", "e/.bento-tmp-e", "d/out/.bento-tmp-dir/f"} {
		full := filepath.Join(root, p)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got := outputs.Leftovers(root, []string{"d/out/a", "d/out/b", "d/c", "missing/x"})
	if diff := cmp.Diff([]string{"d/out/.bento-tmp-b", "d/.bento-tmp-a"}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
