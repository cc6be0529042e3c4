package adapters

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestMemo(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	write := func(text string, age time.Duration) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, time.Time{}, time.Now().Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	var m Memo[string]
	made := 0
	get := func() string {
		t.Helper()
		f := NewFiles(t.TempDir())
		text, err := m.Get(f, dir, func(f *Files) (string, error) {
			made++
			data, err := f.Read("a")
			return string(data), err
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		if reads := f.Reads(); len(reads) != 1 || reads[0] != path {
			t.Errorf("reads %q", reads)
		}
		return text
	}
	for i, step := range []struct {
		change func()
		want   string
		made   int
	}{
		{func() {}, "", 1},
		{func() {}, "", 1},
		{func() { write("one", time.Hour) }, "one", 2},
		{func() {}, "one", 2},
		{func() { write("two", -time.Hour) }, "two", 3},
		{func() {}, "two", 4}, // just written, or later
		{func() { os.Remove(path) }, "", 5},
		{func() {}, "", 5},
	} {
		step.change()
		if got := get(); got != step.want || made != step.made {
			t.Errorf("step %d: %q after %d looks, want %q after %d", i, got, made, step.want, step.made)
		}
	}
}

func TestMemoThatTrusts(t *testing.T) {
	dir := t.TempDir()
	m := Memo[int]{Trust: time.Hour}
	made := 0
	get := func() {
		if _, err := m.Get(NewFiles(dir), dir, func(f *Files) (int, error) { made++; f.IsFile("a"); return 0, nil }); err != nil {
			t.Fatal(err)
		}
	}
	get()
	if err := os.WriteFile(filepath.Join(dir, "a"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	get()
	if made != 1 {
		t.Errorf("made %d times within its trust", made)
	}
	m.Trust = 0
	get()
	if made != 2 {
		t.Errorf("made %d times, want 2", made)
	}
}
