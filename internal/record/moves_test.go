package record

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// A span tells of a directory that it watches and that was moved and put back in its time; no
// other span does.
func TestMoved(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the system does not tell of moves")
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
	check(t, before, "a") // asking again changes nothing
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
