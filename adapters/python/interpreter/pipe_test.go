//go:build unix

package interpreter

import (
	"path/filepath"
	"syscall"
	"testing"
)

// A named pipe among the directories of PATH, which nobody writes to, holds no interpreters.
func TestPipeOnPath(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "bin")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if names := pythons(pipe); len(names) > 0 {
		t.Errorf("found %q", names)
	}
}
