package git

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestChanged(t *testing.T) {
	needGit(t)
	dir := newRepo(t)
	write(t, dir, "same", "edited", "staged", "deleted", "removed", "old name", "mode", "sub/odd\nname", ".gitignore")
	if err := os.WriteFile(filepath.Join(dir, ".gitignore"), []byte("ignored\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	git(t, dir, "add", ".")
	git(t, dir, "commit", "-qm", "base")
	base := git(t, dir, "rev-parse", "HEAD")[:40]
	git(t, dir, "branch", "main-line")
	git(t, dir, "checkout", "-qb", "feature")
	git(t, dir, "mv", "old name", "new name")
	git(t, dir, "commit", "-qam", "rename")
	git(t, dir, "checkout", "-q", "main-line")
	write(t, dir, "on the other side")
	git(t, dir, "add", ".")
	git(t, dir, "commit", "-qm", "elsewhere")
	git(t, dir, "checkout", "-q", "feature")

	edit := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	edit("edited", "x")
	edit("staged", "x")
	git(t, dir, "add", "staged")
	edit("sub/odd\nname", "x")
	edit("ignored", "x")
	edit("untracked", "x")
	git(t, dir, "rm", "-q", "removed")
	if err := errors.Join(os.Remove(filepath.Join(dir, "deleted")), os.Chmod(filepath.Join(dir, "mode"), 0o755)); err != nil {
		t.Fatal(err)
	}
	r := open(t, filepath.Join(dir, "sub"))
	got, from, err := r.Changed(context.Background(), "main-line")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"deleted", "edited", "mode", "new name", "old name", "removed", "staged", "sub/odd\nname", "untracked"}
	if diff := cmp.Diff(want, got); diff != "" || from != base {
		t.Errorf("since %s, want %s (-want +got):\n%s", from, base, diff)
	}
}

func TestChangedSinceNothing(t *testing.T) {
	needGit(t)
	dir := newRepo(t)
	r := open(t, dir)
	ctx := context.Background()
	if _, _, err := r.Changed(ctx, "HEAD"); !errors.Is(err, ErrNoCommit) {
		t.Errorf("no commit at all: %v", err)
	}
	write(t, dir, "a")
	git(t, dir, "add", ".")
	git(t, dir, "commit", "-qm", "one")
	git(t, dir, "checkout", "-q", "--orphan", "other")
	git(t, dir, "commit", "-qm", "two")
	for ref, want := range map[string]error{"no-such": ErrNoCommit, "--all": ErrNoCommit, "": ErrNoCommit, "other~1": ErrNoCommit, "HEAD^{tree}": ErrNoCommit, "master": ErrNoBase} {
		if ref == "master" {
			ref = git(t, dir, "for-each-ref", "--format=%(refname:short)", "refs/heads/ma*")
			ref = ref[:len(ref)-1]
		}
		if _, _, err := r.Changed(ctx, ref); !errors.Is(err, want) {
			t.Errorf("Changed(%q): %v, want %v", ref, err, want)
		}
	}
	if shallow, err := r.Shallow(ctx); shallow || err != nil {
		t.Error("a whole repository is called shallow")
	}
	clone := t.TempDir()
	write(t, dir, "b")
	git(t, dir, "add", ".")
	git(t, dir, "commit", "-qm", "three")
	git(t, clone, "clone", "-q", "--depth", "1", "--branch", "other", "file://"+dir, "c")
	if shallow, err := open(t, filepath.Join(clone, "c")).Shallow(ctx); !shallow || err != nil {
		t.Error("a shallow clone is not called so")
	}
}
