//go:build unix

package tree

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/internal/tree/disk"
)

func TestSpecial(t *testing.T) {
	dir := tempDir(t)
	if err := syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, ".gitignore"), 0o644); err != nil {
		t.Fatal(err)
	}
	tr := walk(t, dir)
	if e, ok := tr.Lookup("fifo"); !ok || e.Kind != Special {
		t.Errorf("Lookup(fifo) = %+v, %v", e, ok)
	}
	if p := tr.Problems(); len(p) != 0 {
		t.Errorf("Problems = %v", p)
	}
}

func TestUnreadable(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root reads everything")
	}
	dir := tempDir(t)
	write(t, dir, "shut/a", "")
	write(t, dir, "listed/a", "")
	write(t, dir, "ok/a", "")
	for name, mode := range map[string]os.FileMode{"shut": 0, "listed": 0o400} {
		path := filepath.Join(dir, name)
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.Chmod(path, 0o755) })
	}
	tr := walk(t, dir)
	if diff := cmp.Diff([]string{"ok/a"}, paths(tr.Entries())); diff != "" {
		t.Error(diff)
	}
	p := tr.Problems()
	if len(p) != 2 || p[0].File != "listed/a" || p[1].File != "shut" || p[1].Rule != "unreadable" {
		t.Errorf("Problems = %v", p)
	}
}

func TestSelectUnreadable(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root reads everything")
	}
	dir := newRepo(t)
	write(t, dir, ".gitignore", "gen\n")
	write(t, dir, "gen/shut/a", "")
	shut := filepath.Join(dir, "gen", "shut")
	if err := os.Chmod(shut, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(shut, 0o755) })
	if _, err := walk(t, dir).Select(compile(t, "", "gen/**")); !os.IsPermission(errors.Unwrap(err)) {
		t.Errorf("Select: %v, want permission denied", err)
	}
}

func TestKindsChange(t *testing.T) {
	dir := tempDir(t)
	write(t, dir, "a", "A")
	tr := walkWithState(t, dir)
	settleAll(tr.Index())
	e, _ := tr.Lookup("a")
	ix := tr.Index()
	if err := os.Remove(filepath.Join(dir, "a")); err != nil {
		t.Fatal(err)
	}
	for _, make := range []func(){
		func() { mkdir(t, dir, "a") },
		func() { symlink(t, dir, "a", "b") },
		func() {
			if err := syscall.Mkfifo(filepath.Join(dir, "a"), 0o644); err != nil {
				t.Fatal(err)
			}
		},
		func() {},
	} {
		make()
		var pe *fs.PathError
		if _, err := ix.Sum(e); !errors.As(err, &pe) || pe.Path != "a" {
			t.Errorf("Sum: %v, want an *fs.PathError", err)
		}
		_ = os.Remove(filepath.Join(dir, "a"))
	}
	if _, err := ix.Sum(Entry{Path: "a", Kind: Special}); !errors.Is(err, disk.ErrKind) {
		t.Errorf("Sum of a special file: %v", err)
	}
}
