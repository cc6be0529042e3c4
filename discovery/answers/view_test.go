package answers

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/internal/clone"
	"github.com/bentobuild/bento/internal/state"
	"github.com/bentobuild/bento/internal/tree"
)

// TestMissingWhileLooking: the view reports a missing file from the walk until tasks may make the file.
func TestMissingWhileLooking(t *testing.T) {
	root := t.TempDir()
	files, err := tree.Walk(t.Context(), root, &tree.Options{State: state.Open(root)})
	if err != nil {
		t.Fatal(err)
	}
	shown := new(snapshot.Snapshot)
	shown.Hold(NewView(files, clone.At(root)))
	source := snapshot.Options{Clone: clone.At(root), Snapshot: shown}.Source()
	path := filepath.Join(root, "none")
	if err := os.WriteFile(path, nil, 0o666); err != nil { // after the walk
		t.Fatal(err)
	}
	if source.Files(root).IsFile("none") {
		t.Error("while adapters are asked, the file is there; want it to be known as missing")
	}
	if _, err := source.Files(root).Read("none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("while adapters are asked: %v", err)
	}
	shown.Acts()
	if !source.Files(root).IsFile("none") {
		t.Error("once tasks may make files, the file is missing; want the disk to be asked")
	}
}
