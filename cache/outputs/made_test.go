//go:build unix

package outputs_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/cache/outputs"
	"github.com/bentobuild/bento/internal/rawfile"
)

// place places the files of a directory below "p" in a workspace.
func place(made, root, stage string, alone bool) error {
	m, err := outputs.List(made, alone, func(p string, mode fs.FileMode, size int64) error {
		if !mode.IsRegular() && !mode.IsDir() {
			return cache.Refuse(p, "it is no regular file")
		}
		return nil
	})
	if err != nil {
		return err
	}
	defer m.Close()
	r := outputs.NewRestorer(root, func() (*rawfile.File, error) { return rawfile.OpenDir(stage) })
	defer r.Close()
	return r.Place(m, "p", outputs.Options{})
}

func placeDirs(t testing.TB) (made, root, stage string) {
	t.Helper()
	dir := t.TempDir()
	made, root, stage = filepath.Join(dir, "made"), filepath.Join(dir, "root"), filepath.Join(dir, "stage")
	for _, d := range []string{made, root, stage} {
		if err := os.Mkdir(d, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	return made, root, stage
}

// After a placement, by move or copy, the workspace has the made files, and its other files stay.
func TestPlace(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		old, want, alone := drawTree(rt, "old"), drawTree(rt, "want"), rapid.Bool().Draw(rt, "alone")
		for p, what := range want {
			if strings.HasPrefix(what, "-> ") {
				delete(want, p)
			}
		}
		for p, what := range old {
			if what = strings.TrimPrefix(what, "-> "); what != old[p] || conflicts(want, p) || isDir(what) != isDir(want[p]) {
				delete(old, p)
			}
		}
		made, root, stage := placeDirs(t)
		makeTree(t, made, want)
		makeTree(t, filepath.Join(root, "p"), old)
		if err := place(made, root, stage, alone); err != nil {
			rt.Fatal(err)
		}
		all := tree{}
		for p, what := range old {
			all["p/"+p] = what
		}
		for p, what := range want {
			if !isDir(what) {
				all["p/"+p] = what
			}
		}
		if _, any := readTree(t, root)["p"]; any && len(old) == 0 {
			all["p"] = readTree(t, root)["p"] // the test made it for old
		}
		if diff := cmp.Diff(all, readTree(t, root)); diff != "" {
			rt.Fatalf("-want +got:\n%s", diff)
		}
		if left, _ := os.ReadDir(stage); len(left) > 0 {
			rt.Fatalf("%v is left in the stage", left)
		}
	})
}

func inode(t testing.TB, path string) uint64 {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Sys().(*syscall.Stat_t).Ino
}

// A directory that is missing in the workspace is moved as a whole if a restore would make the same.
// Otherwise its files are moved one by one. Files of a process that may still run are copied.
func TestPlaceMoves(t *testing.T) {
	for _, c := range []struct {
		name       string
		old        tree
		odd        func(made, root string) error
		copied     bool
		dir, files bool // whether a/b and its files are the same inodes afterwards
	}{
		{name: "new", old: tree{"x": "644 x"}, dir: true, files: true},
		{name: "below a missing directory", files: true, odd: func(made, _ string) error {
			return errors.Join(os.Mkdir(filepath.Join(made, "p"), 0o777), os.WriteFile(filepath.Join(made, "p/a"), nil, 0o666), os.Chmod(filepath.Join(made, "p/a"), 0o644))
		}},
		{name: "beside others", old: tree{"a/x": "644 x"}, dir: true, files: true},
		{name: "into it", old: tree{"a/b/x": "644 x"}, files: true},
		{name: "with an empty directory", odd: func(made, _ string) error { return os.Mkdir(filepath.Join(made, "a/b/e"), 0o777) }, files: true},
		{name: "of another mode", odd: func(made, _ string) error { return os.Chmod(filepath.Join(made, "a/b"), 0o700) }, files: true},
		{name: "of its own group", odd: func(made, _ string) error { return os.Chmod(filepath.Join(made, "a/b"), fs.ModeSetgid|0o755) }, files: true},
		{name: "into one of its own group", old: tree{"x": "644 x"}, files: true,
			odd: func(_, root string) error { return os.Chmod(filepath.Join(root, "p"), fs.ModeSetgid|0o755) }},
		{name: "copied", copied: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			made, root, stage := placeDirs(t)
			makeTree(t, made, tree{"a/b/1": "644 1", "a/b/2": "600 2"})
			makeTree(t, filepath.Join(root, "p"), c.old)
			if c.odd != nil {
				if err := c.odd(made, root); err != nil {
					t.Fatal(err)
				}
			}
			dir, file := inode(t, filepath.Join(made, "a/b")), inode(t, filepath.Join(made, "a/b/1"))
			if err := place(made, root, stage, !c.copied); err != nil {
				t.Fatal(err)
			}
			want := tree{"p/a/b/1": "644 1", "p/a/b/2": "600 2"}
			for p, what := range c.old {
				want["p/"+p] = what
			}
			if c.name == "below a missing directory" {
				want["p/p/a"] = "644 "
			}
			if diff := cmp.Diff(want, readTree(t, root)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if got := inode(t, filepath.Join(root, "p/a/b")) == dir; got != c.dir {
				t.Errorf("the directory was moved: %v, want %v", got, c.dir)
			}
			if got := inode(t, filepath.Join(root, "p/a/b/1")) == file; got != c.files {
				t.Errorf("the file was moved: %v, want %v", got, c.files)
			}
		})
	}
}

// A file with the same content is not touched. If one file cannot be placed, nothing is changed.
func TestPlaceKeeps(t *testing.T) {
	for _, alone := range []bool{true, false} {
		t.Run(fmt.Sprint(alone), func(t *testing.T) {
			made, root, stage := placeDirs(t)
			makeTree(t, made, tree{"a": "644 a", "b": "644 new"})
			makeTree(t, root, tree{"p/a": "644 a", "p/b": "644 old"})
			before := inode(t, filepath.Join(root, "p/a"))
			if err := place(made, root, stage, alone); err != nil {
				t.Fatal(err)
			}
			if inode(t, filepath.Join(root, "p/a")) != before {
				t.Error("the same file was replaced")
			}
			made, root, stage = placeDirs(t)
			makeTree(t, made, tree{"a": "644 a", "b": "644 b"})
			old := tree{"p/b/x": "644 x"}
			makeTree(t, root, old)
			var refused *cache.RefusedError
			if err := place(made, root, stage, alone); !errors.As(err, &refused) || refused.Path != "p/b" {
				t.Errorf("got %v, want a refusal of p/b", err)
			}
			if diff := cmp.Diff(old, readTree(t, root)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
