package record

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestStuckSaysWhatToDo(t *testing.T) {
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "d/dir"), 0o755); err != nil {
		t.Fatal(err)
	}
	err := stuck(root, "d/f", &fs.PathError{Op: "remove", Path: filepath.Join(root, "d/f"), Err: fs.ErrPermission})
	if want := `"d/f", which its last run has made, cannot be removed: permission denied; remove it, or give yourself the right to`; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v", err)
	}
	if !errors.Is(err, fs.ErrPermission) || !errors.As(err, new(*StuckError)) {
		t.Errorf("%#v wraps no cause", err)
	}
	if err := stuck(root, "d/dir", fs.ErrPermission); err != nil {
		t.Errorf("a directory: %v", err)
	}
}
