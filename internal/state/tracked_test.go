package state

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
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
	if _, err := os.Stat(Open(root).Shown(untrackedFile)); err != nil {
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

func FuzzUntracked(f *testing.F) {
	f.Add(encodeUntracked("stamp\n", []string{".bento", "cache"}))
	f.Add([]byte("other\n\x00"))
	f.Add([]byte("stamp\n\xff"))
	f.Fuzz(func(t *testing.T, payload []byte) {
		dirs := decodeUntracked(payload, "stamp\n")
		if dirs == nil {
			return
		}
		if again := decodeUntracked(encodeUntracked("stamp\n", dirs), "stamp\n"); !slices.Equal(again, dirs) {
			t.Errorf("%q, encoded again: %q", dirs, again)
		}
		if got := decodeUntracked(payload, "stamp of another index\n"); got != nil {
			t.Errorf("%q for another index", got)
		}
	})
}
