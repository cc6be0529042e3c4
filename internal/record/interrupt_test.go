package record

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/key"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/tree"
)

// What an execution that was interrupted before it began finds among its outputs it has
// not left there: the next one must not remove it.
func TestInterruptedBeforeItBegan(t *testing.T) {
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "d"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "d", "mine.txt"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	files, err := tree.Walk(ctx, root, nil)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	task := &plan.Task{Name: "build", Dish: &dish.Dish{Path: "d"}, Outputs: []plan.Output{{Glob: "*.txt"}}}
	x := &Execution{
		Recorder: &Recorder{Root: root, Tree: files},
		Ev:       &key.Evaluation{Task: task}, Last: &key.LastRun{},
		Before: func(string) bool { return false }, Others: func(string) bool { return false },
	}
	if err := x.Prepare(); !errors.Is(err, context.Canceled) {
		t.Fatalf("%v, want canceled", err)
	}
	if left := x.Left(); len(left) > 0 {
		t.Errorf("it has left %q", left)
	}
}
