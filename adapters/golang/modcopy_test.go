package golang

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCopyModfiles(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module x\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	arg, remove, err := copyModfiles(dir)
	if err != nil {
		t.Fatal(err)
	}
	path, ok := strings.CutPrefix(arg, "-modfile=")
	if data, err := os.ReadFile(path); !ok || err != nil || string(data) != "module x\n" {
		t.Errorf("%s holds %q, %v", arg, data, err)
	}
	if got := spoken([]string{"/usr/bin/go", "mod", "download", arg}); got != "go mod download" {
		t.Errorf("spoken %q", got)
	}
	remove()
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

func TestCopyModfilesWithoutModule(t *testing.T) {
	_, remove, err := copyModfiles(filepath.Join(t.TempDir(), "none"))
	if err != nil {
		t.Fatal(err)
	}
	remove()
}

func TestCopyModfilesRefusesOtherFiles(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	for name, damage := range map[string]func(string) error{
		"go.mod": func(path string) error { return os.Mkdir(path, 0o755) },
		"go.sum": func(path string) error {
			return errors.Join(os.WriteFile(path, nil, 0o644), os.Truncate(path, 16<<20+1))
		},
	} {
		dir := t.TempDir()
		if err := damage(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
		if _, _, err := copyModfiles(dir); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v, want an error that names it", name, err)
		}
	}
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}
