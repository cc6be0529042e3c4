package outputs

import (
	"os"
	"path/filepath"
	"testing"
)

func TestUnlockStaysAmongOutputs(t *testing.T) {
	root := t.TempDir()
	mode := func(p string) os.FileMode {
		info, err := os.Stat(filepath.Join(root, p))
		if err != nil {
			t.Fatal(err)
		}
		return info.Mode().Perm()
	}
	if err := os.MkdirAll(filepath.Join(root, "d/out/sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../..", filepath.Join(root, "d/out/link")); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{"d/out/sub", "d/out", "d"} {
		if err := os.Chmod(filepath.Join(root, p), 0o555); err != nil {
			t.Fatal(err)
		}
		defer os.Chmod(filepath.Join(root, p), 0o755)
	}
	is := func(dir string) bool { return dir != "d" }
	if Unlock(root, "d/out/link/d/x", is) && mode("d") != 0o555 {
		t.Errorf("a link leads to %v", mode("d"))
	}
	Unlock(root, "d/out/sub/f", is)
	if mode("d/out") != 0o755 || mode("d/out/sub") != 0o755 || mode("d") != 0o555 {
		t.Errorf("%v, %v, %v", mode("d/out"), mode("d/out/sub"), mode("d"))
	}
	if Unlock(root, "d/out/sub/f", is) {
		t.Error("unlocked twice")
	}
}
