package node

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/adaptertest"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/internal/clone"
	"github.com/bentobuild/bento/internal/growth"
)

// diskView knows no file, so that a Snapshot reads the disk.
type diskView struct{}

func (diskView) State(string, bool) (s adapters.State, known bool) { return s, false }
func (diskView) Now(string) (s adapters.State, known bool)         { return s, false }
func (diskView) Ignored(string, bool) bool                         { return false }

// TestMembersWithoutLockfile: after an install, the members of a workspace without a lockfile are asked
// again, and do not each list all of them.
func TestMembersWithoutLockfile(t *testing.T) {
	write := func(dir, text string) {
		t.Helper()
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "package.json"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	member := func(root string, i int) string { return filepath.Join(root, "packages", fmt.Sprint("p", i)) }
	workspace := func(n int) string {
		root := t.TempDir()
		write(root, `{"name": "root", "workspaces": ["packages/*"]}`)
		for i := range n {
			write(member(root, i), fmt.Sprintf(`{"name": "p%d", "scripts": {"build": "true"}}`, i))
		}
		return fmt.Sprint(root, "\n", n)
	}
	growth.CheckMemory(t, growth.Reader{File: workspace, Read: func(data []byte) any {
		var root string
		var n int
		if _, err := fmt.Sscan(string(data), &root, &n); err != nil {
			t.Fatal(err)
		}
		shown := new(snapshot.Snapshot)
		shown.Hold(diskView{})
		a := NewNPM(snapshot.Options{Clone: clone.At(root), Snapshot: shown})
		for range 2 {
			for i := range n {
				if _, err := a.LockDigest(t.Context(), member(root, i)); err != nil {
					t.Fatal(err)
				}
			}
			shown.Changed()
		}
		return a
	}})
}

func TestLockfileOfOnePackageIsNotRead(t *testing.T) {
	root := adaptertest.Project(t, "-- package.json --\n{}\n-- package-lock.json --\n{\"lockfileVersion\": 9}\n")
	l := adaptertest.Lock(t, all()["node-npm"], root, root)
	if state, looked := l.Reads[filepath.Join(root, "package-lock.json")]; l.File != "package-lock.json" || l.Digest+l.Whole != "" || !looked || state.Sum != [32]byte{} {
		t.Errorf("%+v", l)
	}
}
