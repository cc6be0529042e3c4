package record

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/internal/tree"
)

// A listing is valid until a file is added to or removed from one of its directories.
func TestStamps(t *testing.T) {
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "d", "out", "deep"), 0o755); err != nil {
		t.Fatal(err)
	}
	long := time.Unix(1_500_000_000, 0)
	if err := os.Chtimes(filepath.Join(root, "d", "out", "deep"), long, long); err != nil {
		t.Fatal(err)
	}
	tr, err := tree.Walk(t.Context(), root, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	var paths []string
	look := listing{dirs: stamps(tr, []string{"d/out"}, []tree.Entry{{Path: "d/out/a"}, {Path: "d/out/deep/b"}, {Path: "d/out/deep/c"}, {Path: "top"}})}
	for _, d := range look.dirs {
		paths = append(paths, d.Path)
	}
	if diff := cmp.Diff([]string{"d/out", "d/out/deep"}, paths); diff != "" {
		t.Errorf("directories, -want +got:\n%s", diff)
	}
	if !look.holds(tr) {
		t.Error("it does not hold, though nothing changed")
	}
	if err := os.Mkdir(filepath.Join(root, "d", "out", "deep", "new"), 0o755); err != nil {
		t.Fatal(err)
	}
	if look.holds(tr) {
		t.Error("it holds, though a directory was added")
	}
}
