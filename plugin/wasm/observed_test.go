package wasm

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/bentobuild/bento/internal/rawfile"
	"github.com/bentobuild/bento/plugin/host"
)

// TestObserved: observations no longer hold after a change of a file that a module has seen, and hold after any
// other change.
func TestObserved(t *testing.T) {
	long := time.Now().Add(-time.Hour)
	for _, c := range []struct {
		name string
		see  func(j *jail)
		do   func(t *testing.T, root string)
		hold bool
	}{
		{"a file is written", opens("a/f"), writes("a/f", "other"), false},
		{"a file is removed", opens("a/f"), removes("a/f"), false},
		{"a missing file is made", opens("a/none"), writes("a/none", ""), false},
		{"a missing directory is made", opens("none/x"), writes("none/x", ""), false},
		{"a file becomes a directory", opens("a/f"), func(t *testing.T, root string) { removes("a/f")(t, root); writes("a/f/x", "")(t, root) }, false},
		{"a link leads elsewhere", opens("link/f"), func(t *testing.T, root string) { removes("link")(t, root); links("b", "link")(t, root) }, false},
		{"a link leads out", opens("link/f"), func(t *testing.T, root string) { removes("link")(t, root); links(root+"/a", "link")(t, root) }, false},
		{"a link that leads out is mended", opens("out/f"), func(t *testing.T, root string) { removes("out")(t, root); links("a", "out")(t, root) }, false},
		{"the target of a link is written", opens("link/f"), writes("a/f", "other"), false},
		{"a file is stated and written", func(j *jail) { j.Stat("a/f") }, writes("a/f", "other"), false},
		{"a link is read and changed", func(j *jail) { j.Readlink("link") }, func(t *testing.T, root string) { removes("link")(t, root); links("b", "link")(t, root) }, false},
		{"names are read and one is new", lists("a"), writes("a/new", ""), false},
		{"names are read and one is gone", lists("a"), removes("a/f"), false},
		{"a directory is stated and has a new name", func(j *jail) { j.Stat("a") }, writes("a/new", ""), true},
		{"another file is written", opens("a/f"), writes("b/f", "other"), true},
		{"what is hidden is written", opens(".git/HEAD"), writes(".git/HEAD", "other"), true},
		{"nothing is seen", func(*jail) {}, writes("a/f", "other"), true},
	} {
		root := t.TempDir()
		for _, name := range []string{"a/f", "b/f", ".git/HEAD"} {
			writes(name, name)(t, root)
			if err := os.Chtimes(filepath.Join(root, name), long, long); err != nil {
				t.Fatal(err)
			}
		}
		links("a", "link")(t, root)
		links(root+"/a", "out")(t, root)
		r, err := rawfile.OpenDir(root)
		if err != nil {
			t.Fatal(err)
		}
		l := &observations{root: root, seen: host.Observed{}}
		c.see(&jail{root: r, budget: &budget{}, observed: l})
		r.Close()
		c.do(t, root)
		if got := l.seen.Hold(); got != c.hold {
			t.Errorf("%s: the answer holds: %v, want %v (%v)", c.name, got, c.hold, l.seen)
		}
	}
}

// TestLooksOfNow: a file that has just changed may change again and look the same.
func TestLooksOfNow(t *testing.T) {
	root := t.TempDir()
	writes("f", "")(t, root)
	l := &observations{root: root, seen: host.Observed{}}
	l.at("none")
	if l.all() == nil {
		t.Error("a missing file is not relied on")
	}
	l.at("f")
	if l.all() != nil {
		t.Error("a file of this moment is relied on")
	}
}

func opens(name string) func(*jail) {
	return func(j *jail) {
		if f, e := j.OpenFile(name, 0, 0); e == 0 {
			f.Close()
		}
	}
}

func lists(name string) func(*jail) {
	return func(j *jail) {
		f, e := j.OpenFile(name, 0, 0)
		if e == 0 {
			f.Readdir(-1)
			f.Close()
		}
	}
}

func writes(name, text string) func(*testing.T, string) {
	return func(t *testing.T, root string) {
		t.Helper()
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func removes(name string) func(*testing.T, string) {
	return func(t *testing.T, root string) {
		t.Helper()
		if err := os.RemoveAll(filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
}

func links(to, name string) func(*testing.T, string) {
	return func(t *testing.T, root string) {
		t.Helper()
		if err := os.Symlink(to, filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestNoLinks: a module cannot make links. So it cannot bring an outside file into a directory that it may
// read.
func TestNoLinks(t *testing.T) {
	root := t.TempDir()
	writes("a", "text")(t, root)
	r, err := rawfile.OpenDir(root)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	j := &jail{root: r, write: true, budget: &budget{}}
	if e := j.Link("a", "b"); e == 0 {
		t.Error("a hard link is made")
	}
	if e := j.Symlink("a", "c"); e == 0 {
		t.Error("a symbolic link is made")
	}
}
