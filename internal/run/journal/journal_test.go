package journal

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/internal/state"
)

func replay(t *testing.T, d *state.Dir) (list []Entry) {
	t.Helper()
	if err := Replay(d, func(e Entry) { list = append(list, e) }, func() error { return nil }); err != nil {
		t.Fatal(err)
	}
	return list
}

func TestReplay(t *testing.T) {
	d := state.Open(t.TempDir())
	if Left(d) || replay(t, d) != nil {
		t.Error("something is left of nothing")
	}
	want := []Entry{
		{Task: "a\x00build", Dish: "a", Globs: []string{"out/**"}, Paths: []string{}},
		{Task: "b\x00build", Dish: ".", Globs: []string{}, Paths: []string{"x", "y\n\xff"}},
	}
	j := New(d)
	for _, e := range want {
		if err := j.Note(e); err != nil {
			t.Fatal(err)
		}
	}
	if Left(d) {
		t.Error("the journal of a process that lives counts as left")
	}
	j.file.Close() // as the kernel does
	j.file = nil
	if !Left(d) {
		t.Error("nothing is left")
	}
	failure := errors.New("not remembered")
	if err := Replay(d, func(Entry) {}, func() error { return failure }); !errors.Is(err, failure) || !Left(d) {
		t.Errorf("what was not remembered is gone: %v", err)
	}
	if diff := cmp.Diff(want, replay(t, d)); diff != "" {
		t.Error(diff)
	}
	if Left(d) {
		t.Error("it is still there")
	}
}

func TestCloseRemoves(t *testing.T) {
	d := state.Open(t.TempDir())
	j := New(d)
	j.Close()
	if err := j.Note(Entry{Task: "a"}); err != nil {
		t.Fatal(err)
	}
	j.Close()
	if d.Abandoned(dir) != nil {
		t.Error("it is left")
	}
}

func FuzzDecode(f *testing.F) {
	one := encode(Entry{Task: "a", Dish: "b", Globs: []string{"c"}, Paths: []string{"d"}})
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
