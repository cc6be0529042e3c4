package snapshot

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/clone"
)

// counted returns what m holds for dir/a, and counts how often it was made.
func counted(t *testing.T, m *Memo[string], s Source, dir string, made *int) string {
	t.Helper()
	f := s.Files(filepath.Join(dir, "other"))
	text, err := m.Get(f, dir, func(f *Files) (string, error) {
		*made++
		data, err := f.Read("a")
		return string(data), err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	if reads := f.Reads(); len(reads) != 1 || reads[filepath.Join(dir, "a")].Kind == adapters.Unseen {
		t.Errorf("reads %v", reads)
	}
	return text
}

// TestMemo checks that a value is made again when a file has changed, whatever its times.
func TestMemo(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var m Memo[string]
	made := 0
	for i, step := range []struct {
		change func()
		want   string
		made   int
	}{
		{func() {}, "", 1},
		{func() {}, "", 1},
		{func() { write("one") }, "one", 2},
		{func() { write("one") }, "one", 2}, // the same again
		{func() { write("two") }, "two", 3},
		{func() { os.Remove(path) }, "", 4},
		{func() {}, "", 4},
	} {
		step.change()
		if got := counted(t, &m, Source{}, dir, &made); got != step.want || made != step.made {
			t.Errorf("step %d: %q after %d looks, want %q after %d", i, got, made, step.want, step.made)
		}
	}
}

// disk is a View that knows nothing.
type disk struct{}

func (disk) State(string, bool) (adapters.State, bool) { return adapters.State{}, false }
func (disk) Now(string) (adapters.State, bool)         { return adapters.State{}, false }
func (disk) Ignored(string, bool) bool                 { return false }

// TestMemoOfASnapshot checks that a value holds as long as its snapshot, and no longer.
func TestMemoOfASnapshot(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	var m Memo[string]
	made := 0
	see := func(s Source, want string, wantMade int) {
		t.Helper()
		if got := counted(t, &m, s, dir, &made); got != want || made != wantMade {
			t.Errorf("%q after %d looks, want %q after %d", got, made, want, wantMade)
		}
	}
	one := Options{Snapshot: new(Snapshot)}.Source()
	see(one, "", 1)
	if err := os.WriteFile(path, []byte("one"), 0o644); err != nil {
		t.Fatal(err)
	}
	see(one, "one", 2) // it holds nothing yet
	one.snapshot.Hold(disk{})
	see(one, "one", 2)
	if err := os.WriteFile(path, []byte("two"), 0o644); err != nil {
		t.Fatal(err)
	}
	see(one, "one", 2)
	see(one.Now(), "two", 3)
	two := Options{Snapshot: new(Snapshot)}.Source()
	two.snapshot.Hold(disk{})
	see(two, "two", 3)

	// After a change it is compared once, and holds until the next one.
	two.snapshot.Changed()
	see(two, "two", 3)
	if err := os.WriteFile(path, []byte("three"), 0o644); err != nil {
		t.Fatal(err)
	}
	see(two, "two", 3)
	two.snapshot.Changed()
	see(two, "three", 4)
	see(two, "three", 4)
}

// TestMemoOfTheMachine checks that what was read outside of the workspace is for readers of
// the machine alone.
func TestMemoOfTheMachine(t *testing.T) {
	root, outside := t.TempDir(), t.TempDir()
	path := filepath.Join(outside, "a")
	if err := os.WriteFile(path, []byte("secret"), 0o644); err != nil {
		t.Fatal(err)
	}
	s := Options{Clone: clone.At(root)}.Source()
	p := NewParsed(func(_ string, data []byte) (string, error) { return string(data), nil })
	if got, err := p.Read(s.Files(root).Beyond(), path); got != "secret" || err != nil {
		t.Errorf("beyond the workspace: %q, %v", got, err)
	}
	f := s.Files(root)
	if got, err := p.Read(f, path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("in the workspace: %q, %v", got, err)
	}
}

// TestReadsOfAFileThatChanges checks that an answer that saw two states of one file depends
// on no state of it.
func TestReadsOfAFileThatChanges(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	f := NewFiles(dir)
	if f.IsFile("a") {
		t.Fatal("it is missing")
	}
	if err := os.WriteFile(path, []byte("one"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Read("a"); err != nil {
		t.Fatal(err)
	}
	if state := f.Reads()[path]; state.Kind != adapters.Unsteady || state.Holds(state) {
		t.Errorf("%v", state)
	}
	f = NewFiles(dir)
	if !f.IsFile("a") || f.Reads()[path] != (adapters.State{Kind: adapters.Regular}) {
		t.Errorf("of its kind alone: %v", f.Reads())
	}
	f.Whole("a")
	f.IsFile("a")
	if state := f.Reads()[path]; state.Kind != adapters.Regular || state.Sum == [32]byte{} {
		t.Errorf("of all of it: %v", state)
	}
}
