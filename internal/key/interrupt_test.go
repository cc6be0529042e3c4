package key

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/internal/tree"
)

// InPlace stops early after an interrupt.
func TestInPlaceHears(t *testing.T) {
	root := t.TempDir()
	var list []cache.Output
	for i := range 3 {
		name := fmt.Sprint("d", i)
		if err := os.Mkdir(filepath.Join(root, name), 0o755); err != nil {
			t.Fatal(err)
		}
		list = append(list, cache.Output{Path: name, Kind: cache.Dir, Mode: 0o755})
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	files, err := tree.Walk(ctx, root, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !InPlace(files, list) {
		t.Error("they are in place")
	}
	if cancel(); InPlace(files, list) {
		t.Error("it continues")
	}
}
