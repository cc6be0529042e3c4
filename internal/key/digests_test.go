package key

import (
	"bytes"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/internal/pack"
	"github.com/bentobuild/bento/internal/state"
)

func some(n byte) (knownFiles, knownResult) {
	return knownFiles{Validator: validator{n}, Digest: cache.Digest{n, 3}, Locks: []lockPart{{"all.lock", "x"}, {"root", "y"}}}, knownResult{
		Key: cache.Key{n, 1}, Made: cache.Digest{n, 2},
		Outputs: []cache.Output{
			{Path: "a\nb\xff", Kind: cache.File, Mode: 0o755, Digest: cache.Digest{n}, Size: 7},
			{Path: "l", Kind: cache.Link, Target: "../x"}, {Path: "d", Kind: cache.Dir, Mode: 0o700},
		},
	}
}

func (m *digestStore) keep(id string, n byte) {
	files, result := some(n)
	m.KeepFiles(id, files)
	m.KeepResult(id, result)
}

func check(t *testing.T, m *digestStore, ids ...string) {
	t.Helper()
	for i, id := range ids {
		files, result := some(byte(i + 1))
		if d := cmp.Diff(&digestEntry{files, result}, m.Of(id)); d != "" {
			t.Errorf("%s: %s", id, d)
		}
	}
}

func TestMemory(t *testing.T) {
	dir := state.Open(t.TempDir())
	m := openDigestStore(dir, "one")
	m.keep("b", 2)
	m.keep("a", 1)
	if err := m.Save(); err != nil {
		t.Fatal(err)
	}
	m = openDigestStore(dir, "one")
	m.keep("b", 2) // nothing new
	m.keep("c", 3)
	check(t, m, "a", "b", "c")
	if err := m.Save(); err != nil {
		t.Fatal(err)
	}
	m = openDigestStore(dir, "one")
	check(t, m, "a", "b", "c")
	if m.Of("d") != nil {
		t.Error("what was never kept is remembered")
	}
	if openDigestStore(dir, "two").Of("a") != nil {
		t.Error("keys of another program are remembered")
	}
}

// Files and result of one id are kept apart.
func TestKeepOne(t *testing.T) {
	dir := state.Open(t.TempDir())
	m := openDigestStore(dir, "")
	m.keep("a", 1)
	if err := m.Save(); err != nil {
		t.Fatal(err)
	}
	m = openDigestStore(dir, "")
	files, result := some(2)
	m.KeepFiles("a", files)
	_, old := some(1)
	if d := cmp.Diff(&digestEntry{files, old}, m.Of("a")); d != "" {
		t.Error(d)
	}
	m.KeepResult("b", result)
	if d := cmp.Diff(&digestEntry{knownFiles{}, result}, m.Of("b")); d != "" {
		t.Error(d)
	}
}

// A long run that saves more than once keeps the digests that other runs have saved.
func TestSaveTwice(t *testing.T) {
	dir := state.Open(t.TempDir())
	m := openDigestStore(dir, "one")
	m.keep("a", 1)
	if err := m.Save(); err != nil {
		t.Fatal(err)
	}
	m = openDigestStore(dir, "one")
	for i, id := range []string{"b", "c"} {
		m.keep(id, byte(i+2))
		if err := m.Save(); err != nil {
			t.Fatal(err)
		}
		check(t, m, "a")
	}
	check(t, openDigestStore(dir, "one"), "a", "b", "c")
}

func TestNothingNewIsNotWritten(t *testing.T) {
	dir := state.Open(t.TempDir())
	m := openDigestStore(dir, "")
	m.keep("a", 1)
	if err := m.Save(); err != nil {
		t.Fatal(err)
	}
	if err := dir.Remove(digestsFile); err != nil {
		t.Fatal(err)
	}
	// The entry is missing on disk, but still in memory: writing would restore it.
	m.keep("a", 1)
	if err := m.Save(); err != nil {
		t.Fatal(err)
	}
	if _, err := dir.Load(digestsFile, digestsVersion); err == nil {
		t.Error("nothing new was written")
	}
}

// Save never writes unsorted entries or two entries with one id.
func TestDecodeRefusesDisorder(t *testing.T) {
	sorted := encodeDigests("s", map[string]*digestEntry{"one": {}, "two": {}}, 0)
	if _, err := decodeDigests(sorted, "s"); err != nil {
		t.Fatal(err)
	}
	for _, first := range []string{"two", "xxx"} {
		payload := bytes.Replace(sorted, []byte("one"), []byte(first), 1)
		if _, err := decodeDigests(payload, "s"); !errors.Is(err, pack.ErrFormat) {
			t.Errorf("%q before two: got %v, want %v", first, err, pack.ErrFormat)
		}
	}
}

func FuzzDecodeEntries(f *testing.F) {
	dir := state.Open(f.TempDir())
	m := openDigestStore(dir, "s")
	m.keep("a", 1)
	m.keep("b", 2)
	if err := m.Save(); err != nil {
		f.Fatal(err)
	}
	f.Add(encodeDigests("s", m.entries, 0))
	f.Fuzz(func(t *testing.T, payload []byte) {
		entries, err := decodeDigests(payload, "s")
		if err != nil {
			return
		}
		again, err := decodeDigests(encodeDigests("s", entries, 0), "s")
		if d := cmp.Diff(entries, again); d != "" || err != nil {
			t.Errorf("%v, %s", err, d)
		}
	})
}

// A dependent has the key of a task without outputs in its key: the digest of no outputs is zero, in
// a record and without one.
func TestOutputsDigest(t *testing.T) {
	for _, nothing := range [][]cache.Output{nil, {}} {
		if got := outputsDigest(nothing); got != (cache.Digest{}) {
			t.Errorf("%#v: %s, want zero", nothing, got)
		}
	}
	seen := map[cache.Digest]bool{{}: true}
	for _, o := range []cache.Output{
		{Path: "a"}, {Path: "b"}, {Path: "a", Kind: cache.Dir}, {Path: "a", Mode: 0o755}, {Path: "a", Kind: cache.Link, Target: "b"},
		{Path: "a", Kind: cache.Link, Target: "c"}, {Path: "a", Digest: cache.Digest{1}},
	} {
		sum := outputsDigest([]cache.Output{o})
		if seen[sum] {
			t.Errorf("%+v: the digest of something else", o)
		}
		seen[sum] = true
	}
}
