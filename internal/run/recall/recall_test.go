package recall

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/internal/state"
)

func some(n byte) Known {
	return Known{
		Basis: Basis{n}, Key: cache.Key{n, 1}, Made: cache.Digest{n, 2},
		Outputs: []cache.Output{
			{Path: "a\nb\xff", Kind: cache.File, Mode: 0o755, Digest: cache.Digest{n}, Size: 7},
			{Path: "l", Kind: cache.Link, Target: "../x"}, {Path: "d", Kind: cache.Dir, Mode: 0o700},
		},
	}
}

func TestMemory(t *testing.T) {
	dir := state.Open(t.TempDir())
	m := Open(dir, "one")
	m.Keep("b", some(2))
	m.Keep("a", some(1))
	if err := m.Save(); err != nil {
		t.Fatal(err)
	}
	m = Open(dir, "one")
	m.Keep("b", some(2)) // nothing new
	m.Keep("c", some(3))
	if err := m.Save(); err != nil {
		t.Fatal(err)
	}
	m = Open(dir, "one")
	for i, id := range []string{"a", "b", "c"} {
		got, ok := m.Of(id)
		if want := some(byte(i + 1)); !ok || !cmp.Equal(&want, got) {
			t.Errorf("%s: %s", id, cmp.Diff(&want, got))
		}
	}
	if _, ok := m.Of("d"); ok {
		t.Error("what was never kept is remembered")
	}
	if _, ok := Open(dir, "two").Of("a"); ok {
		t.Error("keys of another program are remembered")
	}
}

// A run that saves more than once, because it takes long, keeps what others have saved.
func TestSaveTwice(t *testing.T) {
	dir := state.Open(t.TempDir())
	m := Open(dir, "one")
	m.Keep("a", some(1))
	if err := m.Save(); err != nil {
		t.Fatal(err)
	}
	m = Open(dir, "one")
	for i, id := range []string{"b", "c"} {
		m.Keep(id, some(byte(i+2)))
		if err := m.Save(); err != nil {
			t.Fatal(err)
		}
		if _, ok := m.Of("a"); !ok {
			t.Errorf("after saving %q the memory itself has lost a key", id)
		}
	}
	m = Open(dir, "one")
	for i, id := range []string{"a", "b", "c"} {
		got, ok := m.Of(id)
		if want := some(byte(i + 1)); !ok || !cmp.Equal(&want, got) {
			t.Errorf("%s: %s", id, cmp.Diff(&want, got))
		}
	}
}

func TestNothingNewIsNotWritten(t *testing.T) {
	dir := state.Open(t.TempDir())
	m := Open(dir, "")
	m.Keep("a", some(1))
	if err := m.Save(); err != nil {
		t.Fatal(err)
	}
	if err := dir.Remove(fileName); err != nil {
		t.Fatal(err)
	}
	// What is gone from disk is still in memory: writing would bring it back.
	m = &Memory{state: dir, ids: []string{"a"}, known: []Known{some(1)}, fresh: map[string]Known{}}
	m.Keep("a", some(1))
	if err := m.Save(); err != nil {
		t.Fatal(err)
	}
	if _, err := dir.Load(fileName, version); err == nil {
		t.Error("nothing new was written")
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(encode("s", []string{"a", "b"}, []Known{some(1), some(2)}))
	f.Fuzz(func(t *testing.T, payload []byte) {
		ids, known, err := decode(payload, "s")
		if err != nil {
			return
		}
		m := &Memory{ids: ids, known: known}
		for i, id := range ids {
			if i > 0 && ids[i-1] == id {
				continue
			}
			if _, ok := m.Of(id); !ok {
				t.Errorf("%q is not found", id)
			}
		}
	})
}
