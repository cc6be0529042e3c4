package record

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// A span reports a directory that it watches and that was moved and put back in its time; no
// other span does.
func TestMoved(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the system does not report moves")
	}
	root := t.TempDir()
	for _, dir := range []string{"a/b", "c"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	var w Moves
	defer w.Close()
	dirs := []string{"a/b", "a", ".", "missing"}
	before := w.Begin(root, dirs[:1], dirs[1:])
	other := w.Begin(root, []string{"c", "."}, nil)
	check(t, before, "")
	for _, move := range [][2]string{{"a", "x"}, {"x", "a"}} {
		if err := os.Rename(filepath.Join(root, move[0]), filepath.Join(root, move[1])); err != nil {
			t.Fatal(err)
		}
	}
	after := w.Begin(root, dirs[:1], dirs[1:])
	check(t, before, "a")
	check(t, before, "a") // a second call returns the same
	check(t, other, "")
	check(t, after, "")
	if err := os.RemoveAll(filepath.Join(root, "a/b")); err != nil {
		t.Fatal(err)
	}
	check(t, after, "")
}

func check(t *testing.T, s *movesSpan, want string) {
	t.Helper()
	if got := s.Moved(); got != want {
		t.Errorf("got %q moved, want %q", got, want)
	}
}

// A path is watched again if another directory is there: after a move of the directory or of one
// around it, and after a removal.
func TestMovedAnother(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the system does not report moves")
	}
	root := t.TempDir()
	at := func(p string) string { return filepath.Join(root, p) }
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, replace := range map[string]func(){
		"moved":        func() { do(os.Rename(at("a/b"), at("old"))); do(os.Mkdir(at("a/b"), 0o777)) },
		"moved around": func() { do(os.Rename(at("a"), at("old"))); do(os.MkdirAll(at("a/b"), 0o777)) },
		"removed":      func() { do(os.RemoveAll(at("a"))); do(os.MkdirAll(at("a/b"), 0o777)) },
	} {
		t.Run(name, func(t *testing.T) {
			do(os.MkdirAll(at("a/b"), 0o777))
			defer os.RemoveAll(at("a"))
			defer os.RemoveAll(at("old"))
			var w Moves
			defer w.Close()
			dirs := []string{"a/b", "a", "."}
			w.Begin(root, dirs, nil)
			check(t, w.Begin(root, dirs, nil), "")
			replace()
			after := w.Begin(root, dirs, nil)
			check(t, after, "")
			do(os.Rename(at("a/b"), at("x")))
			do(os.Rename(at("x"), at("a/b")))
			check(t, after, "a/b")
		})
	}
}
