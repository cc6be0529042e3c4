package tree

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/zeebo/blake3"

	"github.com/bentobuild/bento/internal/tree/disk"
)

// known makes a workspace with an index that knows all of it.
func known(t *testing.T, files ...string) (dir string) {
	t.Helper()
	dir = tempDir(t)
	mkdir(t, dir, ".bento") // else it changes the root
	for _, name := range files {
		write(t, dir, name, "was "+name)
	}
	first := walkWithState(t, dir)
	settleAll(first.Index())
	sumAll(t, first)
	save(t, first)
	waitTick(t, dir)
	return dir
}

// TestLookedAtWhenAsked: a walk reads no stat in an unchanged directory; a query then reads the stats
// of its directory.
func TestLookedAtWhenAsked(t *testing.T) {
	dir := known(t, "a/one", "a/sub/two", "b/three")
	tr := walkWithState(t, dir)
	unseen := func() int { return len(tr.top.UnseenBelow(nil)) }
	if n := unseen(); n != 4 {
		t.Fatalf("%d of 4 directories were not looked at by the walk", n)
	}
	if e, ok := tr.Lookup("b/three"); !ok || e.Size != int64(len("was b/three")) || unseen() != 4 {
		t.Errorf("Lookup gives %+v, and leaves %d directories", e, unseen())
	}
	if _, ok := tr.Digest("a"); !ok || unseen() != 2 {
		t.Errorf("Digest knows %v, and leaves %d directories", ok, unseen())
	}
	names := 0
	for l := range tr.Lists {
		for range l.Files {
			names++
		}
	}
	if names != 3 || unseen() != 2 {
		t.Errorf("Lists names %d files, and leaves %d directories", names, unseen())
	}
	tr.LookAhead(context.Background())
	if all := tr.Entries(); len(all) != 3 || unseen() != 0 {
		t.Errorf("Entries gives %v, and leaves %d directories", all, unseen())
	}
}

// TestChangedBeforeTheLook: a change of files between the walk and the read of their stats is found,
// and is in the saved index.
func TestChangedBeforeTheLook(t *testing.T) {
	files := []string{"d/a", "d/b", "d/c", "d/e"}
	for name, change := range map[string]func(path string) error{
		"written":  func(path string) error { return os.WriteFile(path, []byte("now"), 0o644) },
		"mode":     func(path string) error { return os.Chmod(path, 0o755) },
		"removed":  os.Remove,
		"replaced": func(path string) error { return os.Rename(path+"2", path) },
		"a directory": func(path string) error {
			if err := os.Remove(path); err != nil {
				return err
			}
			return os.Mkdir(path, 0o755)
		},
		"all gone": func(path string) error { return os.RemoveAll(filepath.Dir(path)) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := known(t, append(files, "d/c2")...)
			tr := walkWithState(t, dir)
			if err := change(filepath.Join(dir, "d/c")); err != nil {
				t.Fatal(err)
			}
			e, ok := tr.Lookup("d/c")
			if now, err := disk.Stat(dir, "d/c"); ok != (err == nil && now.Kind != Dir) || ok && !now.Same(&e) {
				t.Errorf("Lookup gives %+v (%v), it is %+v (%v)", e, ok, now, err)
			}
			sums(t, tr)
			settleAll(tr.Index())
			save(t, tr)
			waitTick(t, dir)
			sums(t, walkWithState(t, dir))
			fresh, err := Walk(context.Background(), dir, nil)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := len(walkWithState(t, dir).Entries()), len(fresh.Entries()); got != want {
				t.Errorf("the next walk finds %d files, there are %d", got, want)
			}
		})
	}
}

// sums checks that each file of tr exists, and has the digest of tr.
func sums(t *testing.T, tr *Tree) {
	t.Helper()
	for _, e := range tr.Entries() {
		sum, err := tr.Index().Sum(e)
		data, rerr := os.ReadFile(filepath.Join(tr.Root(), e.Path))
		now, serr := disk.Stat(tr.Root(), e.Path)
		if err != nil || rerr != nil || serr != nil || sum != blake3.Sum256(data) || !now.Same(&e) {
			t.Errorf("%q: it is %+v, the tree has %+v (%v, %v, %v)", e.Path, now, e, err, rerr, serr)
		}
	}
}

// TestRefreshedIsListed: the list below a directory includes the files of directories that a refresh
// has read again without a change.
func TestRefreshedIsListed(t *testing.T) {
	dir := known(t, "a/one", "a/sub/two", "a/sub/three")
	tr := walkWithState(t, dir)
	if n := len(tr.Under("a")); n != 3 {
		t.Fatalf("%d files below a, want 3", n)
	}
	if err := tr.Apply(context.Background(), []string{"a/sub"}); err != nil {
		t.Fatal(err)
	}
	tr.mu.Lock()
	n := len(tr.top.Find("a").View()) // without LookBelow first, as after a refresh in between
	tr.mu.Unlock()
	if n != 3 {
		t.Errorf("%d files below a, want 3", n)
	}
}

// TestRefreshKeepsLists: a refresh keeps the list of a directory exactly if nothing below it has
// changed.
func TestRefreshKeepsLists(t *testing.T) {
	for name, change := range map[string]func(dir string){
		"written": func(dir string) { write(t, dir, "b/sub/two", "longer than it was") },
		"added":   func(dir string) { write(t, dir, "b/sub/new", "") },
		"removed": func(dir string) { _ = os.Remove(filepath.Join(dir, "b/sub/two")) },
		"replaced": func(dir string) {
			_ = os.Rename(filepath.Join(dir, "b/sub"), filepath.Join(dir, "b/was"))
			write(t, dir, "b/sub/two", "was b/sub/two")
		},
		"ignored": func(dir string) { write(t, dir, "b/.gitignore", "sub\n") },
	} {
		t.Run(name, func(t *testing.T) {
			dir := known(t, "a/one", "a/sub/two", "b/one", "b/sub/two")
			tr := walkWithState(t, dir)
			a, b := tr.Under("a"), tr.Under("b")
			change(dir)
			apply(t, tr, "a", "b")
			if now := tr.Under("a"); len(now) != len(a) || &now[0] != &a[0] {
				t.Errorf("the list of a is another one: %v, was %v", now, a)
			}
			if now := tr.Under("b"); &now[0] == &b[0] {
				t.Errorf("the list of b is the same: %v", now)
			}
			sameTree(t, tr, walk(t, dir))
		})
	}
}

// TestRefreshSeesWhatNobodyHasRead: a refresh reads files whose stats were not read before a change.
func TestRefreshSeesWhatNobodyHasRead(t *testing.T) {
	dir := known(t, "a/one", "a/sub/two")
	tr := walkWithState(t, dir)
	write(t, dir, "a/sub/two", "longer than it was")
	apply(t, tr, "a")
	sameTree(t, tr, walk(t, dir))
}

// TestReplacedAboveLate: a file in the place of a directory is found even if the stats of the files
// beside it were not read.
func TestReplacedAboveLate(t *testing.T) {
	dir := known(t, "a/one", "a/sub/two")
	tr := walkWithState(t, dir)
	if err := os.RemoveAll(filepath.Join(dir, "a/sub")); err != nil {
		t.Fatal(err)
	}
	write(t, dir, "a/sub", "a file now")
	if err := tr.Apply(context.Background(), []string{"a/sub"}); err != nil {
		t.Fatal(err)
	}
	if e, ok := tr.Lookup("a/sub"); !ok || e.Kind != File {
		t.Errorf("Lookup gives %+v (%v), want a file", e, ok)
	}
	if list := tr.Under("a"); len(list) != 2 {
		t.Errorf("below a are %v, want a/one and a/sub", list)
	}
}

// TestLookedAtByMany: no reader sees a directory with only a part of its stats read. In each
// directory one file differs from the index.
func TestLookedAtByMany(t *testing.T) {
	var files []string
	for _, d := range []string{"a", "b", "c/d", "e"} {
		for i := range 20 {
			files = append(files, fmt.Sprintf("%s/%02d", d, i))
		}
	}
	dir := known(t, files...)
	for i := 10; i < len(files); i += 20 {
		write(t, dir, files[i], "now")
	}
	for range 20 {
		tr := walkWithState(t, dir)
		var g sync.WaitGroup
		tr.LookAhead(context.Background())
		g.Go(func() {
			names := 0
			for l := range tr.Lists {
				for range l.Files {
					names++
				}
			}
			if names != len(files) {
				t.Errorf("Lists names %d files, want %d", names, len(files))
			}
		})
		g.Go(func() {
			if n := len(tr.Entries()); n != len(files) {
				t.Errorf("Entries gives %d files, want %d", n, len(files))
			}
		})
		for _, f := range files {
			if _, ok := tr.Lookup(f); !ok {
				t.Errorf("Lookup does not find %q", f)
			}
		}
		g.Wait()
	}
}
