package git

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestBorrow: a borrowed repository has the commits, tags, branch and index of the other, of which it needs no work tree.
func TestBorrow(t *testing.T) {
	top, to := t.TempDir(), t.TempDir()
	do := func(dir string, args ...string) string {
		t.Helper()
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	write := func(dir, name string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	do(top, "init", "-q", "-b", "trunk")
	write(top, "a")
	do(top, "add", "-A")
	do(top, "commit", "-qm", "first")
	do(top, "tag", "v1.2.3")
	write(top, "staged")
	do(top, "add", "staged")
	linked := filepath.Join(t.TempDir(), "linked")
	do(top, "worktree", "add", "-q", "-b", "other", linked)
	for _, from := range []string{top, linked} {
		r, err := Open(from)
		if err != nil {
			t.Fatal(err)
		}
		dir := filepath.Join(to, filepath.Base(from))
		if err := r.Borrow(t.Context(), dir); err != nil {
			t.Fatal(err)
		}
		write(dir, "a")
		if from == top {
			write(dir, "staged")
		}
		for _, args := range [][]string{{"describe", "--tags"}, {"rev-parse", "HEAD"}, {"symbolic-ref", "HEAD"}, {"ls-files", "-s"}, {"status", "--porcelain"}} {
			if got, want := do(dir, args...), do(from, args...); got != want {
				t.Errorf("git %q: %q, want %q", args, got, want)
			}
		}
	}
}
