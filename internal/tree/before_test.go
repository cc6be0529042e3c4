package tree

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/zeebo/blake3"
	"pgregory.net/rapid"

	"github.com/bentobuild/bento/internal/state"
	"github.com/bentobuild/bento/internal/tree/disk"
	"github.com/bentobuild/bento/internal/tree/ignore"
)

// edits are changes of a workspace after the index was saved. They draw paths from few names, so that
// they often conflict; an edit that fails has no effect.
var edits = map[string]func(rt *rapid.T, tb testing.TB, dir string){
	"write": func(rt *rapid.T, tb testing.TB, dir string) {
		p := draw(rt, dir)
		_ = os.MkdirAll(filepath.Dir(p), 0o755)
		_ = os.WriteFile(p, rapid.SliceOfN(rapid.Byte(), 0, 3).Draw(rt, "text"), 0o644)
	},
	"write in place of": func(rt *rapid.T, tb testing.TB, dir string) {
		p := draw(rt, dir)
		_ = os.RemoveAll(p)
		_ = os.WriteFile(p, []byte("x"), 0o644)
	},
	"remove": func(rt *rapid.T, tb testing.TB, dir string) { _ = os.RemoveAll(draw(rt, dir)) },
	"mkdir":  func(rt *rapid.T, tb testing.TB, dir string) { _ = os.MkdirAll(draw(rt, dir), 0o755) },
	"rename": func(rt *rapid.T, tb testing.TB, dir string) { _ = os.Rename(draw(rt, dir), draw(rt, dir)) },
	"link":   func(rt *rapid.T, tb testing.TB, dir string) { _ = os.Link(draw(rt, dir), draw(rt, dir)) },
	"symlink": func(rt *rapid.T, tb testing.TB, dir string) {
		p := draw(rt, dir)
		_ = os.RemoveAll(p)
		_ = os.Symlink(rapid.SampledFrom(names).Draw(rt, "to"), p)
	},
	"chmod": func(rt *rapid.T, tb testing.TB, dir string) {
		p, mode := draw(rt, dir), rapid.SampledFrom([]os.FileMode{0o644, 0o755, 0o700}).Draw(rt, "mode")
		if fi, err := os.Lstat(p); err == nil && fi.IsDir() {
			mode |= 0o700 // an ordinary user has to remove it at the end
		}
		_ = os.Chmod(p, mode)
	},
	"set times": func(rt *rapid.T, tb testing.TB, dir string) {
		at := time.Unix(rapid.Int64Range(1, 3).Draw(rt, "seconds"), 0)
		_ = os.Chtimes(draw(rt, dir), at, at)
	},
	"ignore": func(rt *rapid.T, tb testing.TB, dir string) {
		_ = os.WriteFile(filepath.Join(draw(rt, dir), ignore.File), []byte(drawRules(rt)), 0o644)
	},
	"ignore no more": func(rt *rapid.T, tb testing.TB, dir string) { _ = os.Remove(filepath.Join(draw(rt, dir), ignore.File)) },
	"ignore at the root": func(rt *rapid.T, tb testing.TB, dir string) {
		_ = os.WriteFile(filepath.Join(dir, ignore.File), []byte(drawRules(rt)), 0o644)
	},
	"exclude": func(rt *rapid.T, tb testing.TB, dir string) {
		_ = os.WriteFile(filepath.Join(dir, ".git/info/exclude"), []byte(drawRules(rt)), 0o644)
	},
	"copy with times": func(rt *rapid.T, tb testing.TB, dir string) {
		from, to := draw(rt, dir), draw(rt, dir)
		fi, err := os.Stat(from)
		if data, rerr := os.ReadFile(from); err == nil && rerr == nil && os.WriteFile(to, data, fi.Mode()) == nil {
			_ = os.Chtimes(to, fi.ModTime(), fi.ModTime())
		}
	},
	"another directory": func(rt *rapid.T, tb testing.TB, dir string) {
		p := draw(rt, dir)
		if fi, err := os.Lstat(p); err == nil && fi.IsDir() && os.Rename(p, filepath.Join(dir, "away")) == nil {
			_ = os.Mkdir(p, 0o755)
			_ = os.Chtimes(p, fi.ModTime(), fi.ModTime())
			_ = os.RemoveAll(filepath.Join(dir, "away"))
		}
	},
	"track": func(rt *rapid.T, tb testing.TB, dir string) {
		if p := draw(rt, dir); rapid.IntRange(0, 9).Draw(rt, "dice") == 0 { // git is slow
			if fi, err := os.Lstat(p); err == nil && fi.Mode().IsRegular() {
				runGit(tb, dir, "add", "-f", p)
			}
		}
	},
	"track no more": func(rt *rapid.T, tb testing.TB, dir string) { _ = os.Remove(filepath.Join(dir, ".git/index")) },
}

var names = []string{"a", "b", "a.b", ".b", "dist"}

// draw returns the path of something, which need not exist.
func draw(rt *rapid.T, dir string) string {
	for range rapid.IntRange(1, 3).Draw(rt, "depth") {
		dir = filepath.Join(dir, rapid.SampledFrom(names).Draw(rt, "name"))
	}
	return dir
}

func drawRules(rt *rapid.T) string {
	return rapid.SampledFrom([]string{"", "dist\n", "a/\n", "/a\n", "*.b\n!/a.b\n", "b\n!b\n", "a/b\n"}).Draw(rt, "rules")
}

// TestIndexChangesNothing: a walk with an index finds the same as one without it, after any edits
// since the index was saved.
func TestIndexChangesNothing(t *testing.T) {
	needGit(t)
	base := tempDir(t)
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		dir := filepath.Join(base, fmt.Sprint(n))
		mkdir(t, dir, ".bento")
		makeRepo(t, dir)
		defer os.RemoveAll(dir)
		for range 8 {
			edits["write"](rt, t, dir)
		}
		for range rapid.IntRange(1, 8).Draw(rt, "rounds") {
			tr := compareWalks(rt, dir)
			if rapid.Bool().Draw(rt, "edit and refresh") {
				edit(rt, t, dir)
				rel, err := filepath.Rel(dir, draw(rt, dir))
				if err == nil {
					err = tr.Apply(context.Background(), []string{rel})
				}
				if err != nil {
					rt.Fatal(err)
				}
			} else if rapid.Bool().Draw(rt, "refresh all") {
				compareRefresh(rt, t, tr)
			}
			comparePatch(rt, tr.Index())
			if rapid.IntRange(0, 3).Draw(rt, "save") > 0 {
				if err := tr.Index().Save(); err != nil {
					rt.Fatal(err)
				}
				if _, err := os.Stat(filepath.Join(dir, ".bento", indexName)); err == nil && openIndex(tr).saved.Dirs() == 0 {
					rt.Fatal("the index that was saved cannot be read")
				}
			}
			for range rapid.IntRange(0, 4).Draw(rt, "edits") {
				edit(rt, t, dir)
			}
		}
	})
}

func edit(rt *rapid.T, tb testing.TB, dir string) {
	edits[rapid.SampledFrom(sortedKeys(edits)).Draw(rt, "edit")](rt, tb, dir)
}

// compareWalks walks with the index and without, and returns the first tree.
func compareWalks(rt *rapid.T, dir string) *Tree {
	plain, err := Walk(context.Background(), dir, nil)
	if err != nil {
		rt.Fatal(err)
	}
	tr, err := Walk(context.Background(), dir, &Options{State: state.Open(dir)})
	if err != nil {
		rt.Fatal(err)
	}
	if diff := cmp.Diff(seen(plain), seen(tr)); diff != "" {
		rt.Fatalf("without an index, and with it:\n%s", diff)
	}
	for _, e := range tr.Entries() {
		if e.Kind != File {
			continue
		}
		data, rerr := os.ReadFile(filepath.Join(dir, e.Path))
		if sum, err := tr.Index().Sum(e); err != nil || rerr != nil || sum != blake3.Sum256(data) {
			rt.Fatalf("the digest of %q is wrong: %v, %v", e.Path, err, rerr)
		}
	}
	compareLacks(rt, plain, tr)
	compareDigests(rt, tr, tr.top)
	compareStats(rt, tr, plain)
	return tr
}

// compareLacks checks that a walk with the index knows the same missing files as one without, and that these are
// missing.
func compareLacks(rt *rapid.T, plain, tr *Tree) {
	for _, above := range []string{"", "a", "b", "dist", "a/b", "dist/a", "a.b/dist/.b"} {
		for _, name := range append(names, "none", "B", ignore.File) {
			p := join(above, name)
			want, got := plain.Lacks(p), tr.Lacks(p)
			if _, err := os.Lstat(filepath.Join(tr.root, p)); got && err == nil || got != want && len(tr.problems) == 0 {
				rt.Fatalf("Lacks(%q) is %t with the index, %t without; on the disk: %v", p, got, want, err)
			}
		}
	}
}

// compareRefresh edits the workspace, refreshes all of it, sometimes directory by directory before,
// and checks that the result equals a new walk.
func compareRefresh(rt *rapid.T, tb testing.TB, tr *Tree) {
	tr.Entries() // the refresh compares with these
	name := rapid.SampledFrom([]string{"write", "write in place of", "remove", "mkdir", "rename", "chmod", "set times", "ignore", "another directory"}).Draw(rt, "edit")
	edits[name](rt, tb, tr.root)
	if rapid.Bool().Draw(rt, "by directory") {
		if err := tr.Apply(context.Background(), names); err != nil {
			rt.Fatal(err)
		}
	}
	if err := tr.Apply(context.Background(), []string{""}); err != nil {
		rt.Fatal(err)
	}
	want, err := Walk(context.Background(), tr.root, nil)
	if err != nil {
		rt.Fatal(err)
	}
	defer want.Close()
	got := tr.Entries()
	if diff := cmp.Diff(paths(want.Entries()), paths(got)); diff != "" {
		rt.Fatalf("after a refresh, entries differ from a new walk (-new +refreshed):\n%s", diff)
	}
	for i, e := range want.Entries() {
		if !e.Same(&got[i]) {
			rt.Fatalf("after a refresh %q is %+v, want %+v", e.Path, got[i], e)
		}
	}
}

// compareStats checks that two walks of one state have the same digests of stats.
func compareStats(rt *rapid.T, trees ...*Tree) {
	for _, dir := range []string{"", "a", "b/dist"} {
		var sums [2][32]byte
		for i, t := range trees {
			clock := t.index.clock
			t.index.clock = disk.FixedClock(device(t), true, 0)
			sum, known := t.StatDigest(dir, func(path string) bool { return strings.HasSuffix(path, "b") })
			t.index.clock, sums[i] = clock, sum
			if !known && len(t.problems) == 0 {
				rt.Fatalf("the stats below %q are not known", dir)
			} else if !known {
				return
			}
		}
		if sums[0] != sums[1] {
			rt.Fatalf("below %q: the stats have the digest %x with the index, %x without", dir, sums[0], sums[1])
		}
	}
}

// TestStatDigest: the digest changes only with the stat, the name and the number of the selected
// files, and is known once they are old enough.
func TestStatDigest(t *testing.T) {
	dir := known(t, "a/one.go", "a/sub/two.go", "a/plain", "three.go")
	digest := func(looked bool) [32]byte {
		tr := walkWithState(t, dir)
		if looked {
			tr.Entries()
		}
		settleAll(tr.Index())
		sum, known := tr.StatDigest("a", func(path string) bool { return strings.HasSuffix(path, ".go") })
		if !known {
			t.Error("the stats of settled files are not known")
		}
		return sum
	}
	before := digest(false)
	write(t, dir, "a/plain", "other")
	write(t, dir, "a/new", "")
	write(t, dir, "three.go", "other")
	if digest(false) != before || digest(true) != before {
		t.Error("files that are not selected change the digest")
	}
	for _, edit := range []func(){
		func() { write(t, dir, "a/one.go", "was a/one.gO") },
		func() { write(t, dir, "a/sub/new.go", "") },
		func() { write(t, dir, "a/new/three.go", "") },
	} {
		_ = os.Remove(filepath.Join(dir, "a/new"))
		edit()
		if now := digest(false); now == before || now != digest(true) {
			t.Error("an edit does not change the digest, or changes it with the way of looking")
		} else {
			before = now
		}
	}
	tr := walkWithState(t, dir)
	tr.index.clock = disk.FixedClock(device(tr), false, time.Hour)
	if _, known := tr.StatDigest("a", func(string) bool { return true }); known {
		t.Error("the stats of new files are known where the clock ticks")
	}
}

// compareDigests checks that the digest of a directory in the index equals the digest without the
// index.
func compareDigests(rt *rapid.T, tr *Tree, n *dirNode) (read bool) {
	for _, d := range n.Dirs {
		read = compareDigests(rt, tr, d) || read
	}
	for _, e := range n.Files() {
		read = read || e.Slot == 0 // the index has only its stat
	}
	if !n.Wholly() || read {
		return true
	}
	had, known := tr.Digest(n.Path)
	n.Same = false
	made, mknown := tr.Digest(n.Path)
	n.Same = true
	if had != made || known != mknown {
		rt.Fatalf("%q: the index has %x (%v), it is %x (%v)", n.Path, had, known, made, mknown)
	}
	return false
}

// comparePatch checks that a patched index has the same content for the tree as a rewritten one.
func comparePatch(rt *rapid.T, ix *Index) {
	p, ok := ix.patch()
	if !ok {
		return
	}
	head := tableHead{Saved: 1, Looked: time.Now().Add(time.Hour).UnixNano()}
	changed, cerr := readTable(slices.Concat(p.Payload(head)...))
	full, ferr := readTable(ix.full().Payload(head))
	if cerr != nil || ferr != nil {
		rt.Fatal(cerr, ferr)
	}
	if diff := cmp.Diff(said(full), said(changed)); diff != "" {
		rt.Fatalf("rewritten, and changed:\n%s", diff)
	}
}

// said returns the content of an index about the directories and files of the tree.
func said(t *indexTable) (list []any) {
	for i := range t.Dirs() {
		sum, known := t.Digest(i)
		list = append(list, t.Dir(i), t.Below(i), sum, known)
		from, to := t.FilesOf(i)
		for k := from; k < to; k++ {
			path, kind := t.File(k)
			stamp, size, mode := t.Stat(k)
			sum, known := t.Sum(k)
			list = append(list, path, kind, stamp, size, mode, sum, known)
		}
	}
	return list
}

// TestLittleIsWritten: the index is rewritten only if a name was added or removed.
func TestLittleIsWritten(t *testing.T) {
	dir := newRepo(t)
	write(t, dir, ".gitignore", "out\n")
	for _, p := range []string{"a", "d/b", "d/e/c", "d-/f", "g/h/i", "out"} {
		write(t, dir, p, p)
	}
	note := func(tr *Tree, p string) {
		e, err := Stat(dir, p)
		if err != nil {
			t.Fatal(err)
		}
		tr.Index().Note(e, [32]byte{byte(len(p))})
	}
	first := walkWithState(t, dir)
	settleAll(first.Index())
	sumAll(t, first)
	note(first, "out")
	save(t, first)
	for _, c := range []struct {
		name, text string
		patched    bool
	}{
		{"a", "other", true}, {"d/e/c", "other", true}, {".gitignore", "out\nno\n", true}, {"out", "other", true},
		{"d/e/new", "", false}, {"d/n/e/w", "", false}, {".gitignore", "out\nb\n", false},
	} {
		write(t, dir, c.name, c.text)
		tr := walkWithState(t, dir)
		settleAll(tr.Index())
		sumAll(t, tr)
		note(tr, "out")
		if _, ok := tr.Index().patch(); ok != c.patched {
			t.Errorf("%s: %v", c.name, ok)
		}
		save(t, tr)
		if n := sumAll(t, walkWithState(t, dir)); n > 0 {
			t.Errorf("%s: %d files read again", c.name, n)
		}
	}
}

// seen returns the results of all queries of a tree.
func seen(t *Tree) any {
	type answer struct {
		Entries  []Entry
		Dirs     []string
		Problems any
		Ignored  map[string]bool
		Sub      map[string]int
	}
	a := answer{Dirs: t.Dirs(), Problems: t.Problems(), Ignored: map[string]bool{}, Sub: map[string]int{}}
	for _, e := range t.Entries() {
		e.Slot = 0
		a.Entries = append(a.Entries, e)
	}
	for _, x := range names {
		for _, y := range append(names, "") {
			p := filepath.Join(x, y)
			a.Ignored[p], a.Ignored[p+"/"] = t.Ignored(p, false), t.Ignored(p, true)
			a.Sub[p] = len(t.Under(p))
		}
	}
	return a
}

// TestUnchangedDirectoriesAreNotRead: a second walk reads no directory, and a third one only the
// changed ones.
func TestUnchangedDirectoriesAreNotRead(t *testing.T) {
	dir := newRepo(t)
	mkdir(t, dir, ".bento")
	for _, name := range []string{"a/b/c", "a/d", "e/f", "x", ".gitignore", "a/.gitignore"} {
		write(t, dir, name, "dist\n")
	}
	first := walkWithState(t, dir)
	settleAll(first.Index())
	save(t, first)
	if n := listed(walkWithState(t, dir).top); n != 0 {
		t.Errorf("%d directories read though nothing changed", n)
	}
	waitTick(t, dir)
	for _, c := range []struct {
		name, text string
		want       int
	}{
		{"a/b/new", "", 1},
		{"a/b/dist", "", 1},
		{"x", "other", 0},
		{"a/.gitignore", "other", 2}, // its directory, and the one in it
		{".gitignore", "other", 4},
		{".git/info/exclude", "other", 4},
		{".git/index", "", 0}, // no list of git's
	} {
		write(t, dir, c.name, c.text)
		tr := walkWithState(t, dir)
		if n := listed(tr.top); n != c.want {
			t.Errorf("%s: %d directories read, want %d", c.name, n, c.want)
		}
		settleAll(tr.Index())
		save(t, tr)
		if n := listed(walkWithState(t, dir).top); n != 0 {
			t.Errorf("%s: %d directories read again", c.name, n)
		}
		waitTick(t, dir)
	}
}

// listed counts the directories whose names were read.
func listed(n *dirNode) int {
	count := 0
	if n.Listed {
		count = 1
	}
	for _, d := range n.Dirs {
		count += listed(d)
	}
	return count
}

func sortedKeys[V any](m map[string]V) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// TestIndexKeepsIgnoredDirs: a file that git neither tracks nor sees does not join the tree because
// the index knows the directory, which has tracked files.
func TestIndexKeepsIgnoredDirs(t *testing.T) {
	needGit(t)
	dir := newRepo(t)
	mkdir(t, dir, ".bento")
	write(t, dir, ".gitignore", "/a/out\n")
	write(t, dir, "a/out/in/tracked", "")
	write(t, dir, "a/other", "")
	runGit(t, dir, "add", "-f", ".")
	for round := range 3 {
		first := walkWithState(t, dir)
		settleAll(first.Index())
		sumAll(t, first)
		if err := first.Index().Save(); err != nil {
			t.Fatal(err)
		}
		write(t, dir, fmt.Sprintf("a/out/%d", round), "")
		write(t, dir, fmt.Sprintf("a/out/in/%d", round), "")
		got := walkWithState(t, dir)
		sameTree(t, got, walk(t, dir))
		if !got.Ignored("a/out/new", false) || !got.Ignored("a/out/in/new", false) {
			t.Errorf("round %d: new files in an ignored directory are not ignored", round)
		}
	}
}
