package answers

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/clone"
	"github.com/bentobuild/bento/internal/state"
	"github.com/bentobuild/bento/internal/tree"
)

// lines is an adapter whose sources embed the path in each line.
type lines struct{ adapters.Adapter }

func (lines) Manifest() *adapters.Manifest {
	return &adapters.Manifest{AdapterID: "lines", EmbedsIn: []string{".take"}}
}

// workspace is a directory with sources. It counts how many of them are read.
type workspace struct {
	root  string
	inner []string // directories of other projects
	basis string   // of the project
	learn bool     // each find reads all files for their digests, and saves the index
	reads atomic.Int64
}

func (w *workspace) write(t *testing.T, name, text string) {
	file := filepath.Join(w.root, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// find finds the embeds of the workspace as an invocation does.
func (w *workspace) find(t *testing.T) []string {
	w.reads.Store(0)
	st := state.Open(w.root)
	files, err := tree.Walk(t.Context(), w.root, &tree.Options{State: st})
	if err != nil {
		t.Fatal(err)
	}
	defer files.Close()
	embeds := func(_, file string, data []byte) (list []adapters.Embed) {
		w.reads.Add(1)
		for i, line := range bytes.Fields(data) {
			list = append(list, adapters.Embed{Path: string(line), File: file, Line: i + 1})
		}
		return list
	}
	parts := st.OpenParts("answers", 1)
	found := Sources{Saved: parts, Tree: files, Clone: clone.At(w.root)}.Embeds([]Project{{
		Path: ".", Adapter: lines{}, Embeds: embeds, Inner: w.inner, In: []string{".take"}, Basis: w.basis,
	}})
	if err := parts.Save(); err != nil {
		t.Fatal(err)
	}
	if w.learn {
		for _, e := range files.Entries() {
			_, _ = files.Index().Sum(e) // a link has no digest
		}
		if err := files.Index().Save(); err != nil {
			t.Fatal(err)
		}
	}
	var paths []string
	for _, e := range found[0] {
		paths = append(paths, e.Path)
	}
	return paths
}

// settled calls find until it reads no source. A source that is too new is read again, for some seconds.
func (w *workspace) settled(t *testing.T) []string {
	t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); <-tick.C {
		if found := w.find(t); w.reads.Load() == 0 {
			return found
		}
	}
	t.Fatal("sources are read each time")
	return nil
}

// TestSourcesAreReadOnce: the embeds of a source are reused until it changes.
func TestSourcesAreReadOnce(t *testing.T) {
	t.Parallel()
	w := &workspace{root: t.TempDir(), inner: []string{"other"}}
	w.write(t, ".bento/keep", "")
	w.write(t, "a.take", "/x /y")
	w.write(t, "sub/b.take", "/z")
	w.write(t, "sub/none.take", "")
	w.write(t, "sub/testdata/fixture.take", "/fixture")
	w.write(t, "other/c.take", "/foreign")
	w.write(t, "plain.txt", "/plain")
	const more = fewSources
	for i := range more {
		w.write(t, fmt.Sprintf("sub/zz%d.take", i), "")
	}
	if diff := cmp.Diff([]string{"/x", "/y", "/z"}, w.find(t)); diff != "" || w.reads.Load() != 3+more {
		t.Errorf("%d reads: %s", w.reads.Load(), diff)
	}
	if diff := cmp.Diff([]string{"/x", "/y", "/z"}, w.settled(t)); diff != "" {
		t.Error(diff)
	}
	w.write(t, "sub/b.take", "/other")
	if diff := cmp.Diff([]string{"/x", "/y", "/other"}, w.find(t)); diff != "" || w.reads.Load() != 1 {
		t.Errorf("%d reads: %s", w.reads.Load(), diff)
	}
	w.settled(t)
	if err := os.Remove(filepath.Join(w.root, "a.take")); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"/other"}, w.find(t)); diff != "" || w.reads.Load() != 0 {
		t.Errorf("%d reads: %s", w.reads.Load(), diff)
	}
}

// TestSourcesAreReadForAnotherBasis: embeds that were found with another basis are not reused.
func TestSourcesAreReadForAnotherBasis(t *testing.T) {
	t.Parallel()
	w := &workspace{root: t.TempDir()}
	w.write(t, ".bento/keep", "")
	w.write(t, "a.take", "/x"+strings.Repeat(" ", littleText))
	w.settled(t)
	w.basis = "other"
	if w.find(t); w.reads.Load() != 1 {
		t.Errorf("%d reads", w.reads.Load())
	}
}

// TestSourcesOfInnerProjects: the sources of a directory belong to the project around it, unless the
// directory is a project. This holds even if no file changes.
func TestSourcesOfInnerProjects(t *testing.T) {
	t.Parallel()
	w := &workspace{root: t.TempDir(), inner: []string{".", "a", "a/b", "a-b"}}
	w.write(t, ".bento/keep", "")
	w.write(t, "x.take", "/x")
	w.write(t, "a/b/y.take", "/y")
	w.write(t, "a-c/z.take", "/z")
	for _, c := range []struct{ inner, want []string }{
		{w.inner, []string{"/z", "/x"}},
		{[]string{"."}, []string{"/z", "/y", "/x"}},
		{[]string{".", "a-c"}, []string{"/y", "/x"}},
		{[]string{".", "a/b"}, []string{"/z", "/x"}},
	} {
		w.inner = c.inner
		if diff := cmp.Diff(c.want, w.settled(t)); diff != "" {
			t.Errorf("with projects in %q: %s", c.inner, diff)
		}
	}
}

// TestNothingIsSavedTwice: saved embeds are reused after the files were read for their digests. They are
// also reused beside links, whose targets may change.
func TestNothingIsSavedTwice(t *testing.T) {
	t.Parallel()
	w := &workspace{root: t.TempDir(), learn: true}
	w.write(t, ".bento/keep", "")
	w.write(t, "a.take", "/x")
	w.write(t, "plain", "")
	if err := os.Symlink("a.take", filepath.Join(w.root, "link")); err != nil {
		t.Fatal(err)
	}
	w.settled(t)
	st := state.Open(w.root)
	before := st.Stamp("answers")
	w.write(t, "plain", "other")
	if w.find(t); w.reads.Load() != 0 || st.Stamp("answers") != before {
		t.Errorf("%d reads, saved again: %t", w.reads.Load(), st.Stamp("answers") != before)
	}
}

// TestDamagedMemory: damaged saved embeds are ignored.
func TestDamagedMemory(t *testing.T) {
	t.Parallel()
	w := &workspace{root: t.TempDir()}
	w.write(t, ".bento/keep", "")
	w.write(t, "a.take", "/x"+strings.Repeat(" ", littleText))
	w.settled(t)
	parts := state.Open(w.root).OpenParts("answers", 1)
	for _, part := range []string{projectsPart, sourcesPart} {
		parts.Set(part, "damaged")
	}
	if err := parts.Save(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"/x"}, w.find(t)); diff != "" || w.reads.Load() != 1 {
		t.Errorf("%d reads: %s", w.reads.Load(), diff)
	}
}

// TestFewSourcesAreNotSaved: if one source of a small project changes, all of them are read again.
func TestFewSourcesAreNotSaved(t *testing.T) {
	t.Parallel()
	w := &workspace{root: t.TempDir()}
	w.write(t, ".bento/keep", "")
	w.write(t, "a.take", "/x")
	w.write(t, "b.take", "/y")
	w.settled(t)
	var single map[string]embedsOf
	if state.Open(w.root).OpenParts("answers", 1).Get(sourcesPart, &single); len(single) > 0 {
		t.Errorf("two small sources are saved: %v", single)
	}
	w.write(t, "b.take", "/z")
	if diff := cmp.Diff([]string{"/x", "/z"}, w.find(t)); diff != "" || w.reads.Load() != 2 {
		t.Errorf("%d reads: %s", w.reads.Load(), diff)
	}
}
