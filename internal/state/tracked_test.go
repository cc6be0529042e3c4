package state

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/bentobuild/bento/internal/git"
)

func runGit(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %q: %v\n%s", args, err, out)
	}
}

// A directory in which git tracks a file is from the repository, and is not used. The answer that git
// tracks no file is remembered until git's list changes.
func TestTrackedIsRefused(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	root := t.TempDir()
	runGit(t, root, "init", "-q")
	if err := os.WriteFile(filepath.Join(root, "x"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	runGit(t, root, "add", "x")
	if err := Open(root).Store("f", 1, []byte("mine")); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := Open(root).Load("f", 1); err != nil {
			t.Fatalf("load: %v", err)
		}
	}
	if _, err := os.Stat(Open(root).Shown(trackedFile)); err != nil {
		t.Errorf("nothing is remembered: %v", err)
	}
	if err := Open(root).Untracked(t.Context(), "x"); err == nil {
		t.Error("x is tracked")
	}
	runGit(t, root, "add", "-f", Name+"/f")
	d := Open(root)
	var refused *RefusedError
	_, loaded := d.Load("f", 1)
	_, temp := d.Temp()
	_, held := d.Lock(t.Context(), "locks/l", nil)
	for what, err := range map[string]error{
		"check": d.Check(t.Context()), "load": loaded, "store": d.Store("g", 1, nil), "remove": d.Remove("f"), "temp": temp, "lock": held,
	} {
		if !errors.As(err, &refused) {
			t.Errorf("%s: %v, want a *RefusedError", what, err)
		}
	}
	if d.Sweep(); d.Abandoned("journal") != nil {
		t.Error("a journal is used")
	}
}

// TestForeignIndex: git is asked once about an index that only git can read. Nothing that was known of another
// index is used.
func TestForeignIndex(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	root := t.TempDir()
	runGit(t, root, "init", "-q")
	if err := os.WriteFile(filepath.Join(root, "kept"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	runGit(t, root, "add", "kept")
	runGit(t, root, "update-index", "--split-index")
	d := Open(root)
	if err := d.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	repo, err := git.Open(root)
	if err != nil {
		t.Fatal(err)
	}
	self, err := d.self(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	defer self.Close()
	index, err := openIndex(self, repo)
	if err != nil {
		t.Fatal(err)
	}
	index.List = "100644 0 0\tother\x00"
	for of, want := range map[string][2]bool{index.Index: {false, true}, "another": {true, false}} {
		index.Index = of
		index.save()
		files, err := d.Tracked(t.Context(), repo)
		if err != nil || files.Has("kept") != want[0] || files.Has("other") != want[1] {
			t.Errorf("saved for %q: kept %v, other %v, want %v (%v)", of, files.Has("kept"), files.Has("other"), want, err)
		}
	}
	if files, err := (*Dir)(nil).Tracked(t.Context(), repo); err != nil || !files.Has("kept") {
		t.Errorf("without a state: %v", err)
	}
}
