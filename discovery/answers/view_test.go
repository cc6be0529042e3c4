package answers

import (
	"path/filepath"
	"testing"

	"github.com/bentobuild/bento/adapters"
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
	v := NewView(files, clone.At(root))
	path := filepath.Join(root, "none")
	if s, known := v.State(path, false); !known || s.Kind != adapters.Absent {
		t.Errorf("while adapters are asked: %v, %t; want it to be known as missing", s, known)
	}
	v.Looked()
	if s, known := v.State(path, false); known {
		t.Errorf("later: %v is known, want the disk to be asked", s)
	}
}
