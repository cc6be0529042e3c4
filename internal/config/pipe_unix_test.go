//go:build unix

package config

import (
	"path/filepath"
	"syscall"
	"testing"
)

// A pipe in the place of a configuration file must not block bento.
func TestLoadPipe(t *testing.T) {
	root := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(root, "bento.toml"), 0o644); err != nil {
		t.Skip(err)
	}
	if _, problems := Load(root, ""); len(problems) != 1 || problems[0].Rule != RuleUnreadable {
		t.Errorf("a pipe: %v", problems)
	}
}
