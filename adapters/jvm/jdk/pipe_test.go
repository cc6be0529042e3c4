//go:build unix

package jdk_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/bentobuild/bento/adapters/jvm/jdk"
)

// A JDK whose release file is a named pipe, which nobody writes to, has no version.
func TestPipeForARelease(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "jdk")
	home(t, dir, "21.0.2")
	release := filepath.Join(dir, "release")
	if err := os.Remove(release); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(release, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := jdk.Look(dir); got.Version != nil {
		t.Errorf("version %v", got.Version)
	}
}
