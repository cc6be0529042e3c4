package tree

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func apply(tb testing.TB, tr *Tree, changes ...string) {
	tb.Helper()
	if err := tr.Apply(context.Background(), changes); err != nil {
		tb.Fatal(err)
	}
}

func sameTree(tb testing.TB, got, want *Tree) {
	tb.Helper()
	if diff := cmp.Diff(paths(want.Entries()), paths(got.Entries())); diff != "" {
		tb.Fatalf("entries differ from those of a new walk (-new +refreshed):\n%s", diff)
	}
	if diff := cmp.Diff(want.Dirs(), got.Dirs()); diff != "" {
		tb.Fatalf("directories differ (-new +refreshed):\n%s", diff)
	}
	for i, e := range want.Entries() {
		found, ok := got.Lookup(e.Path)
		if list := got.Entries(); !e.Same(&list[i]) || !ok || !e.Same(&found) {
			tb.Fatalf("%q: %+v, by Lookup %+v; want %+v", e.Path, list[i], found, e)
		}
	}
	for _, d := range want.Dirs() {
		if diff := cmp.Diff(paths(want.Under(d)), paths(got.Under(d))); diff != "" {
			tb.Fatalf("Under(%q) (-new +refreshed):\n%s", d, diff)
		}
	}
}

// TestApplyIsAWalk makes random changes, and checks that a tree to which they are applied equals a new walk.
func TestApplyIsAWalk(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	names := []string{"a", "b", "a.b", "a-b", "dist", "x.log"}
	path := func() string {
		var parts []string
		for range 1 + r.IntN(3) {
			parts = append(parts, names[r.IntN(len(names))])
		}
		return strings.Join(parts, "/")
	}
	for range 30 {
		dir := newRepo(t)
		write(t, dir, ".gitignore", "dist/\n*.log\n!a/*.log\n")
		write(t, dir, "b/dist/tracked", "")
		runGit(t, dir, "add", "-f", "b/dist/tracked")
		tr := walk(t, dir)
		held := tr.Entries()
		before := paths(held)
		for range 30 {
			p := path()
			full := filepath.Join(dir, p)
			switch r.IntN(6) {
			case 0:
				_ = os.RemoveAll(full)
			case 5:
				p = filepath.Join(path(), ".gitignore")
				full = filepath.Join(dir, p)
				if os.MkdirAll(filepath.Dir(full), 0o755) == nil {
					_ = os.WriteFile(full, []byte(names[r.IntN(len(names))]+"\n"), 0o644)
				}
			case 1:
				_ = os.MkdirAll(full, 0o755)
			default:
				if os.MkdirAll(filepath.Dir(full), 0o755) == nil {
					_ = os.WriteFile(full, []byte(p), 0o644)
				}
			}
			// The directory may be new, or not be one any more, at any level.
			changes := []string{p}
			switch r.IntN(4) {
			case 0:
				changes = []string{""}
			case 1:
				changes = []string{parentPath(p), p}
			}
			if r.IntN(2) == 0 {
				tr.Under(parentPath(p)) // with and without lists made before
			}
			apply(t, tr, changes...)
			sameTree(t, tr, walk(t, dir))
		}
		if diff := cmp.Diff(before, paths(held)); diff != "" {
			t.Fatalf("a list that was handed out has changed:\n%s", diff)
		}
	}
}

func TestApplyNewAndGone(t *testing.T) {
	dir := newRepo(t)
	write(t, dir, ".gitignore", "out\n")
	write(t, dir, "d/a", "")
	tr := walk(t, dir)
	write(t, dir, "n/e/w/f", "")
	apply(t, tr, "n/e/w")
	sameTree(t, tr, walk(t, dir))
	write(t, dir, "out/x", "")
	apply(t, tr, "out/sub", "./", ".")
	sameTree(t, tr, walk(t, dir))
	if err := os.RemoveAll(filepath.Join(dir, "d")); err != nil {
		t.Fatal(err)
	}
	symlink(t, dir, "d", "n")
	apply(t, tr, "d", "d/sub")
	if e, ok := tr.Lookup("d"); !ok || e.Kind != Link {
		t.Errorf("a directory became a link: %+v, %v", e, ok)
	}
	sameTree(t, tr, walk(t, dir))
	if err := os.Remove(filepath.Join(dir, "d")); err != nil {
		t.Fatal(err)
	}
	write(t, dir, "d/b", "")
	apply(t, tr, "d")
	sameTree(t, tr, walk(t, dir))
	write(t, dir, "n/.gitignore", "e\n")
	apply(t, tr, "n")
	sameTree(t, tr, walk(t, dir))
}

// TestApplyWhileRead looks and refreshes from many sides at once.
func TestApplyWhileRead(t *testing.T) {
	dir := newRepo(t)
	write(t, dir, ".gitignore", "dist\n")
	for _, d := range []string{"a", "b", "a/c"} {
		write(t, dir, d+"/f", "")
		write(t, dir, d+"/dist/o", "")
	}
	tr := walkWithState(t, dir)
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			d := []string{"a", "b", "a/c", ""}[i]
			for range 50 {
				apply(t, tr, d)
				for _, e := range tr.Under(d) {
					if _, err := tr.Index().Sum(e); err != nil {
						t.Error(err)
					}
				}
				if _, err := tr.Select(&Set{}); err != nil {
					t.Error(err)
				}
				if got := selected(t, tr, "a", "dist/*"); len(got) != 1 {
					t.Errorf("Select: %q", got)
				}
				tr.Ignored("a/dist", true)
				tr.Problems()
			}
		})
	}
	wg.Wait()
	sameTree(t, tr, walk(t, dir))
}

func TestApplyCanceled(t *testing.T) {
	tr := walk(t, tempDir(t))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := tr.Apply(ctx, []string{""}); err != context.Canceled {
		t.Errorf("Apply: %v", err)
	}
}

// TestApplyToIgnored: a refresh finds changes of ignored paths that globs name, even in an
// otherwise unchanged directory.
func TestApplyToIgnored(t *testing.T) {
	dir := known(t, "a/src")
	write(t, dir, ".gitignore", "gen\n")
	write(t, dir, "a/gen", "short")
	save(t, walkWithState(t, dir))
	tr := walkWithState(t, dir)
	set := compile(t, "", "a/gen")
	size := func() int64 {
		t.Helper()
		tr.Under("a") // the refresh compares with these
		list, err := tr.Select(set)
		if err != nil || len(list) != 1 {
			t.Fatalf("%v, %v", list, err)
		}
		return list[0].Size
	}
	before := size()
	write(t, dir, "a/gen", "longer than it was before")
	apply(t, tr, "a")
	if now := size(); now == before {
		t.Error("the refresh has not seen the change of an ignored file")
	}
}
