package snapshot_test

import (
	"errors"
	"io/fs"
	"testing"

	"github.com/bentobuild/bento/adapters/snapshot"
)

func TestParsedReadsAChangedFileAgain(t *testing.T) {
	dir := t.TempDir()
	calls := 0
	p := snapshot.NewParsed(func(_ string, data []byte) (string, error) {
		calls++
		return string(data), nil
	})
	read := func(want string, wantCalls int) {
		t.Helper()
		got, err := p.Read(snapshot.NewFiles(dir), "m")
		if err != nil || got != want || calls != wantCalls {
			t.Errorf("got %q, %v after %d parses; want %q after %d", got, err, calls, want, wantCalls)
		}
	}
	if _, err := p.Read(snapshot.NewFiles(dir), "m"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("of no file: %v", err)
	}
	write(t, dir, "m", "one")
	read("one", 1)
	read("one", 1)
	write(t, dir, "m", "two")
	read("two", 2)
}
