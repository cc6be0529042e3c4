//go:build unix

package git

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestNothingIsWaitedFor: a named pipe in the place of a file that git reads is an error, because git
// would wait for a writer.
func TestNothingIsWaitedFor(t *testing.T) {
	needGit(t)
	ctx := context.Background()
	for _, name := range []string{
		".git/HEAD", ".git/config", ".git/packed-refs", ".git/index", ".git/shallow", ".git/info/exclude", ".git/info/attributes",
		".git/refs/heads/some/branch", ".git/objects/info/alternates", ".git/FETCH_HEAD", ".gitignore", ".gitattributes", "a/.gitattributes", "a/b/.gitignore",
	} {
		t.Run(name, func(t *testing.T) {
			dir := newRepo(t)
			write(t, dir, "a/b/c.txt")
			git(t, dir, "add", ".")
			git(t, dir, "commit", "-qm", "one")
			touch(t, dir, "a/b/c.txt")
			path := filepath.Join(dir, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
				t.Fatal(err)
			}
			if err := syscall.Mkfifo(path, 0o644); err != nil {
				t.Fatal(err)
			}
			r := open(t, dir)
			if _, _, err := r.Changed(ctx, "HEAD"); !errors.Is(err, ErrStalls) {
				t.Errorf("Changed: %v, want %v", err, ErrStalls)
			}
			if _, err := r.Shallow(ctx); filepath.Dir(name) == ".git" && !errors.Is(err, ErrStalls) {
				t.Errorf("Shallow: %v, want %v", err, ErrStalls)
			}
		})
	}
}

// TestPipeForARepository: a .git that is a named pipe, and a file that is to hold a path,
// are not waited for.
func TestPipeForARepository(t *testing.T) {
	for _, name := range []string{".git", ".git/commondir"} {
		dir := t.TempDir()
		if name != ".git" {
			write(t, dir, ".git/HEAD", ".git/objects/x", ".git/refs/x")
		}
		if err := syscall.Mkfifo(filepath.Join(dir, name), 0o644); err != nil {
			t.Fatal(err)
		}
		if r, err := At(dir); err == nil {
			t.Errorf("%s: %v, want an error", name, r)
		}
	}
}

// TestLookForPipesHearsInterrupts interrupts the look at the directories of tracked files.
func TestLookForPipesHearsInterrupts(t *testing.T) {
	needGit(t)
	dir := newRepo(t)
	write(t, dir, "a/b/c.txt")
	git(t, dir, "add", ".")
	git(t, dir, "commit", "-qm", "one")
	r := open(t, dir)
	tracked, err := r.Tracked()
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	if err := r.stallsInTree(ctx, tracked); err != nil {
		t.Errorf("not interrupted: %v", err)
	}
	stop()
	if err := r.stallsInTree(ctx, tracked); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v, want %v", err, context.Canceled)
	}
}
