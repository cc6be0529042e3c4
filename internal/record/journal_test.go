package record

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/internal/state"
)

func replay(t *testing.T, d *state.Dir) (list []journalEntry) {
	t.Helper()
	if err := replayJournal(d, func(e journalEntry) { list = append(list, e) }, func() error { return nil }); err != nil {
		t.Fatal(err)
	}
	return list
}

func TestReplay(t *testing.T) {
	d := state.Open(t.TempDir())
	if JournalLeft(d) || replay(t, d) != nil {
		t.Error("something is left of nothing")
	}
	want := []journalEntry{
		{Task: "a\x00build", Dish: "a", Globs: []string{"out/**"}, Paths: []string{}},
		{Task: "b\x00build", Dish: ".", Globs: []string{}, Paths: []string{"x", "y\n\xff"}},
	}
	j := NewJournal(d)
	for _, e := range want {
		if err := j.Note(e); err != nil {
			t.Fatal(err)
		}
	}
	if JournalLeft(d) {
		t.Error("the journal of a process that lives counts as left")
	}
	j.file.Close() // as the kernel does
	j.file = nil
	if !JournalLeft(d) {
		t.Error("nothing is left")
	}
	failure := errors.New("not remembered")
	if err := replayJournal(d, func(journalEntry) {}, func() error { return failure }); !errors.Is(err, failure) || !JournalLeft(d) {
		t.Errorf("what was not remembered is gone: %v", err)
	}
	if diff := cmp.Diff(want, replay(t, d)); diff != "" {
		t.Error(diff)
	}
	if JournalLeft(d) {
		t.Error("it is still there")
	}
}

func TestCloseRemoves(t *testing.T) {
	d := state.Open(t.TempDir())
	j := NewJournal(d)
	j.Close()
	if err := j.Note(journalEntry{Task: "a"}); err != nil {
		t.Fatal(err)
	}
	j.Close()
	if d.Abandoned(dir) != nil {
		t.Error("it is left")
	}
}

func FuzzDecode(f *testing.F) {
	one := encode(journalEntry{Task: "a", Dish: "b", Globs: []string{"c"}, Paths: []string{"d"}})
	f.Add(one)
	f.Add(append(one, one[:len(one)-1]...))
	f.Fuzz(func(t *testing.T, data []byte) {
		var again []byte
		for _, e := range decode(data) {
			again = append(again, encode(e)...)
		}
		if len(again) > len(data) {
			t.Errorf("%d bytes became %d", len(data), len(again))
		}
	})
}
