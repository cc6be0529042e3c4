package interpreter

import (
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
)

// TestPythonsOfAPipe: an entry of PATH that is a named pipe has no interpreters, and is not
// waited for.
func TestPythonsOfAPipe(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"python3", "python3.12", "python3-config", "pypy3", "ruby"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	names := pythons(dir)
	slices.Sort(names)
	if !slices.Equal(names, []string{"pypy3", "python3", "python3.12"}) {
		t.Errorf("%q", names)
	}
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if names := pythons(pipe); len(names) > 0 {
		t.Errorf("of a pipe: %q", names)
	}
}
