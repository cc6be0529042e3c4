package tree

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/zeebo/blake3"

	"github.com/bentobuild/bento/internal/state"
	"github.com/bentobuild/bento/internal/tree/disk"
)

func walkWithState(tb testing.TB, root string) *Tree {
	tb.Helper()
	t, err := Walk(context.Background(), root, &Options{State: state.Open(root)})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(t.Close)
	return t
}

// sumAll gets the digest of every file, compares it with the disk, and returns the number of files
// that were read.
func sumAll(tb testing.TB, tr *Tree) int64 {
	tb.Helper()
	ix := tr.Index()
	before := ix.Reads()
	for _, e := range tr.Entries() {
		if e.Kind != File {
			continue
		}
		sum, err := ix.Sum(e)
		data, rerr := os.ReadFile(filepath.Join(tr.Root(), e.Path))
		if err != nil || rerr != nil || sum != blake3.Sum256(data) {
			tb.Errorf("Sum(%q) is wrong: %v, %v", e.Path, err, rerr)
		}
	}
	return ix.Reads() - before
}

// settleAll makes the index treat all files as old enough, on any file system.
func settleAll(ix *Index) {
	ix.clock = disk.FixedClock(device(ix.tree), true, 0)
}

func device(t *Tree) uint64 {
	for _, e := range t.Entries() {
		return e.Dev
	}
	return 0
}

func save(tb testing.TB, tr *Tree) {
	tb.Helper()
	if err := tr.Index().Save(); err != nil {
		tb.Fatal(err)
	}
}

func TestIndexRemembers(t *testing.T) {
	dir := tempDir(t)
	for i := range 50 {
		write(t, dir, fmt.Sprintf("d%d/f%d", i%5, i), strings.Repeat("x", i*100))
	}
	write(t, dir, "odd\n\xff", "odd")
	mkdir(t, dir, ".bento") // else it changes the root
	write(t, dir, "big", strings.Repeat("0123456789", 100_000))
	tr := walkWithState(t, dir)
	settleAll(tr.Index())
	if n := sumAll(t, tr); n != 52 {
		t.Errorf("%d reads of 52 files", n)
	}
	if n := sumAll(t, tr); n != 0 {
		t.Errorf("%d files read again in the same run", n)
	}
	save(t, tr)
	file := filepath.Join(dir, ".bento", indexName)
	before, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}

	tr = walkWithState(t, dir)
	if n := sumAll(t, tr); n != 0 {
		t.Errorf("%d files read in the second run", n)
	}
	save(t, tr)
	if after, err := os.Stat(file); err != nil || !os.SameFile(before, after) {
		t.Error("saved though nothing changed")
	}

	write(t, dir, "d1/f1", "changed")
	if err := os.Remove(filepath.Join(dir, "d2/f2")); err != nil {
		t.Fatal(err)
	}
	tr = walkWithState(t, dir)
	settleAll(tr.Index())
	if n := sumAll(t, tr); n != 1 {
		t.Errorf("%d files read after one changed", n)
	}
	save(t, tr)
	tr = walkWithState(t, dir)
	if n := sumAll(t, tr); n != 0 {
		t.Errorf("%d files read", n)
	}
	if tr.Index().saved.Find("d2/f2") >= 0 {
		t.Error("a removed file is still in the index")
	}
}

// TestRealClock uses the clock of the file system: a file that was just written may be read once
// more, but not again after that.
func TestRealClock(t *testing.T) {
	dir := tempDir(t)
	for i := range 20 {
		write(t, dir, fmt.Sprint(i), fmt.Sprint(i))
	}
	tr := walkWithState(t, dir)
	sumAll(t, tr)
	save(t, tr)
	tr = walkWithState(t, dir)
	t.Logf("%d of 20 files read again", sumAll(t, tr))
}

// TestWhatChangesAFile tries all ways to change a file, with and without its times.
func TestWhatChangesAFile(t *testing.T) {
	old := time.Date(2001, 2, 3, 4, 5, 6, 7, time.UTC)
	must := func(t *testing.T, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, change := range map[string]func(t *testing.T, dir, f string){
		"same size": func(t *testing.T, dir, f string) { must(t, os.WriteFile(f, []byte("B"), 0o644)) },
		"mtime kept": func(t *testing.T, dir, f string) {
			must(t, os.WriteFile(f, []byte("B"), 0o644))
			must(t, os.Chtimes(f, old, old))
		},
		"touched": func(t *testing.T, dir, f string) { must(t, os.Chtimes(f, time.Now(), time.Now())) },
		"renamed over": func(t *testing.T, dir, f string) {
			write(t, dir, "n", "B")
			must(t, os.Chtimes(dir+"/n", old, old))
			must(t, os.Rename(dir+"/n", f))
		},
		"linked over": func(t *testing.T, dir, f string) {
			write(t, dir, "n", "B")
			must(t, os.Remove(f))
			must(t, os.Link(dir+"/n", f))
		},
		"truncated": func(t *testing.T, dir, f string) { must(t, os.Truncate(f, 0)) },
		"mode":      func(t *testing.T, dir, f string) { must(t, os.Chmod(f, 0o755)) },
		"directory around": func(t *testing.T, dir, f string) {
			must(t, os.Rename(dir+"/d", dir+"/e"))
			write(t, dir, "d/f", "B")
			must(t, os.Chtimes(f, old, old))
		},
		"by another name": func(t *testing.T, dir, f string) {
			must(t, os.Link(f, dir+"/other"))
			must(t, os.WriteFile(dir+"/other", []byte("B"), 0o644))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := tempDir(t)
			write(t, dir, "d/f", "A")
			f := filepath.Join(dir, "d", "f")
			must(t, os.Chtimes(f, old, old))
			tr := walkWithState(t, dir)
			settleAll(tr.Index())
			sumAll(t, tr)
			save(t, tr)
			waitTick(t, dir)
			change(t, dir, f)
			sumAll(t, walkWithState(t, dir))
		})
	}
}

// waitTick waits until a newly written file has other times than one that was written before.
func waitTick(t *testing.T, dir string) {
	t.Helper()
	probe := filepath.Join(dir, ".bento", "tick")
	stamp := func() time.Time {
		if err := os.WriteFile(probe, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		fi, err := os.Stat(probe)
		if err != nil {
			t.Fatal(err)
		}
		return fi.ModTime()
	}
	for first := stamp(); !stamp().After(first); {
		continue
	}
}

// TestUnsettled: a file that was read within the tick of its last change is read again, and its
// digest is not saved.
func TestUnsettled(t *testing.T) {
	dir := tempDir(t)
	write(t, dir, "a", "A")
	tr := walkWithState(t, dir)
	ix := tr.Index()
	ix.clock = disk.FixedClock(device(tr), false, time.Hour)
	for range 3 {
		if sumAll(t, tr) != 1 {
			t.Error("not read again")
		}
	}
	save(t, tr)
	if n := sumAll(t, walkWithState(t, dir)); n != 1 {
		t.Error("saved what cannot be relied on")
	}
	ix.clock = disk.FixedClock(device(tr), false, -time.Hour) // time goes by
	save(t, tr)
	if n := sumAll(t, walkWithState(t, dir)); n != 0 {
		t.Error("Save did not look again")
	}
}

// TestSumOfBefore: the digest of a state that was read once stays known after the file has changed.
func TestSumOfBefore(t *testing.T) {
	dir := tempDir(t)
	write(t, dir, "a", "A")
	tr := walkWithState(t, dir)
	ix := tr.Index()
	ix.clock = disk.FixedClock(device(tr), false, time.Hour) // nothing is ever settled
	e, _ := tr.Lookup("a")
	first, err := ix.Sum(e)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"other", "and another"} {
		write(t, dir, "a", text)
		now, err := Stat(dir, "a")
		if err != nil {
			t.Fatal(err)
		}
		if sum, err := ix.Sum(now); err != nil || sum != blake3.Sum256([]byte(text)) {
			t.Errorf("Sum of now: %v", err)
		}
		if sum, err := ix.Sum(e); err != nil || sum != first {
			t.Errorf("Sum of before is of something else: %v", err)
		}
	}
	if err := os.Remove(filepath.Join(dir, "a")); err != nil {
		t.Fatal(err)
	}
	if sum, err := ix.Sum(e); err != nil || sum != first {
		t.Errorf("Sum of before, when the file is gone: %v", err)
	}
}

func TestNote(t *testing.T) {
	dir := newRepo(t)
	write(t, dir, ".gitignore", "out\n")
	write(t, dir, "out", "made")
	tr := walkWithState(t, dir)
	ix := tr.Index()
	settleAll(ix)
	e, err := Stat(dir, "out")
	if err != nil {
		t.Fatal(err)
	}
	ix.Note(e, blake3.Sum256([]byte("made")))
	if sum, err := ix.Sum(e); err != nil || sum != blake3.Sum256([]byte("made")) || ix.Reads() != 0 {
		t.Errorf("Sum: %v, %d reads", err, ix.Reads())
	}
	save(t, tr)

	tr = walkWithState(t, dir)
	if _, err := tr.Index().Sum(e); err != nil || tr.Index().Reads() != 0 {
		t.Errorf("%d reads of a file that is not in the tree, %v", tr.Index().Reads(), err)
	}
	if err := os.Remove(filepath.Join(dir, "out")); err != nil {
		t.Fatal(err)
	}
	write(t, dir, "new", "") // so that the index is rewritten
	tr = walkWithState(t, dir)
	settleAll(tr.Index())
	sumAll(t, tr)
	save(t, tr)
	if walkWithState(t, dir).Index().saved.Find("out") >= 0 {
		t.Error("a removed file stays in the index")
	}
}

// TestBadIndex: an unusable index is made again.
func TestBadIndex(t *testing.T) {
	dir := tempDir(t)
	write(t, dir, "a", "A")
	tr := walkWithState(t, dir)
	settleAll(tr.Index())
	sumAll(t, tr)
	save(t, tr)
	st := state.Open(dir)
	good, err := st.Load(indexName, tableVersion)
	if err != nil {
		t.Fatal(err)
	}
	future := slices.Clone(good)
	binary.LittleEndian.PutUint64(future, uint64(time.Now().Add(time.Hour).UnixNano()))
	for name, payload := range map[string][]byte{
		"empty": {}, "short": good[:len(good)-1], "long": append(slices.Clone(good), 0), "future": future,
		"count": append(append(slices.Clone(good[:108]), 0xff, 0xff, 0xff, 0xff), good[112:]...),
	} {
		if err := st.Store(indexName, tableVersion, payload); err != nil {
			t.Fatal(err)
		}
		tr := walkWithState(t, dir)
		if n := sumAll(t, tr); n != 1 {
			t.Errorf("%s: %d reads, want 1", name, n)
		}
	}
	if err := st.Store(indexName, tableVersion+1, good); err != nil {
		t.Fatal(err)
	}
	if n := sumAll(t, walkWithState(t, dir)); n != 1 {
		t.Errorf("other version: %d reads, want 1", n)
	}
}

func TestReadOnlyState(t *testing.T) {
	dir := tempDir(t)
	write(t, dir, "a", "A")
	write(t, dir, ".bento", "in the way")
	tr := walkWithState(t, dir)
	if n := sumAll(t, tr); n != 1 {
		t.Errorf("%d reads", n)
	}
	settleAll(tr.Index())
	sumAll(t, tr)
	if err := tr.Index().Save(); err == nil {
		t.Error("Save into a file: no error")
	}
}

// TestManySums gets digests in many goroutines while others save.
func TestManySums(t *testing.T) {
	dir := tempDir(t)
	for i := range 200 {
		write(t, dir, fmt.Sprintf("%d/%d", i%10, i), fmt.Sprint(i))
	}
	var wg sync.WaitGroup
	for range 3 {
		tr := walkWithState(t, dir)
		for range 3 {
			wg.Go(func() { sumAll(t, tr) })
		}
		wg.Go(func() {
			if err := tr.Index().Save(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	sumAll(t, walkWithState(t, dir))
}

func TestKnownAndStable(t *testing.T) {
	dir := tempDir(t)
	write(t, dir, "old", "A")
	write(t, dir, "new", "A")
	old := time.Now().Add(-time.Hour)
	tr := walkWithState(t, dir)
	e, _ := tr.Lookup("old")
	if _, known := tr.Index().Known(e); known {
		t.Error("known before it was read")
	}
	settleAll(tr.Index())
	sum, err := tr.Index().Sum(e)
	if got, known := tr.Index().Known(e); err != nil || !known || got != sum {
		t.Errorf("not known though it was read: %v", err)
	}
	save(t, tr)
	tr = walkWithState(t, dir)
	e, _ = tr.Lookup("old")
	if got, known := tr.Index().Known(e); !known || got != sum || tr.Index().Reads() != 0 || !tr.Stable(e) {
		t.Error("not known from the index, or not stable")
	}
	e, _ = tr.Lookup("new")
	if e.Mtime = old.UnixNano(); tr.Stable(e) {
		t.Error("what was changed now is stable")
	}
	if e.Ctime = old.UnixNano(); !tr.Stable(e) {
		t.Error("what was changed long ago is not stable")
	}
}
