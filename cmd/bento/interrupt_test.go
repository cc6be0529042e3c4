package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// mortal is a context that ends after some looks at it.
type mortal struct {
	context.Context
	left int
}

func (c *mortal) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

// clean looks whether it was interrupted before each file that it removes, and before each
// directory; artifacts --copy before each file that it copies.
func TestLoopsOverFilesHear(t *testing.T) {
	t.Parallel()
	const n = 20
	for _, left := range []int{0, 1, n / 2, n, n + n/2} {
		root, dir := t.TempDir(), t.TempDir()
		var cleans cleaned
		var copies artifacts
		for i := range n {
			name := fmt.Sprintf("d%02d/f", i)
			write(t, root, name, "x")
			cleans.Paths = append(cleans.Paths, name)
			copies.Entries = append(copies.Entries, artifact{Path: name, Kind: "directory"})
		}
		err := copies.copyTo(&mortal{context.Background(), min(left, n-1)}, root, dir)
		if got := entriesOf(t, dir); !errors.Is(err, context.Canceled) || got != min(left, n-1) {
			t.Errorf("copy, interrupted at %d: %d copied, %v", left, got, err)
		}
		err = cleans.remove(&mortal{context.Background(), left}, root)
		files, _ := filepath.Glob(filepath.Join(root, "*", "f"))
		if dirs := entriesOf(t, root); !errors.Is(err, context.Canceled) || len(files) != max(0, n-left) || dirs != min(n, 2*n-left) {
			t.Errorf("clean, interrupted at %d: %d files and %d directories are left, %v", left, len(files), dirs, err)
		}
	}
}

func entriesOf(t *testing.T, dir string) int {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}
