//go:build unix

package discovery

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A named pipe in PATH is skipped, even if no process writes to it.
func TestPipeOnPath(t *testing.T) {
	dir := executables(t, map[string]os.FileMode{"b/bento-adapter-zig": 0o755})
	if err := syscall.Mkfifo(filepath.Join(dir, "a"), 0o600); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "a") + string(filepath.ListSeparator) + filepath.Join(dir, "b")
	found, problems := Adapters(Places{Path: path}, load(t, write(t, nil)), sha)
	if d := cmp.Diff([]string{"zig b/bento-adapter-zig bento-v1"}, describe(dir, found)); d != "" || len(problems) > 0 {
		t.Errorf("%s%v", d, problems)
	}
}
