package host

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bentobuild/bento/internal/stat"
	"github.com/bentobuild/bento/internal/state"
)

func TestDigests(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "bento-adapter-zig")
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write("one")
	d := NewDigests(state.Open(dir))
	one := d.Executable(path)
	if len(one) != 64 || one != (*Digests)(nil).Executable(path) {
		t.Errorf("got %q", one)
	}
	// A file that is this young can change again without a change of its times.
	if err := d.Save(); err != nil {
		t.Fatal(err)
	}
	fi, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = os.Stat(filepath.Join(dir, ".bento"))
	if young := time.Since(stat.Changed(fi)) <= settled; err == nil && young {
		t.Errorf("the digest of a fresh file is remembered")
	}
	write("two")
	if two := d.Executable(path); two == one {
		t.Errorf("two contents have one digest")
	}
	if got := d.Executable(filepath.Join(dir, "none")); got != "absent" {
		t.Errorf("of no file: got %q", got)
	}
	if got := d.Executable(dir); !strings.HasPrefix(got, "unreadable ") {
		t.Errorf("of a directory: got %q", got)
	}
}

func TestDigestsAreRemembered(t *testing.T) {
	dir := t.TempDir()
	d := NewDigests(state.Open(dir))
	// A file of the system is old enough.
	path := "/bin/sh"
	fi, err := os.Stat(path)
	if err != nil || time.Since(stat.Changed(fi)) < settled {
		t.Skip("there is no old file")
	}
	want := d.Executable(path)
	if err := d.Save(); err != nil {
		t.Fatal(err)
	}
	again := NewDigests(state.Open(dir))
	if got, ok := again.recall(path, stat.Text(fi)); !ok || got != want {
		t.Errorf("got %q, %v, want %q", got, ok, want)
	}
	if got, ok := again.recall("/another/name", stat.Text(fi)); !ok || got != want {
		t.Errorf("of another name of the file: got %q, %v, want %q", got, ok, want)
	}
	if _, ok := again.recall(path, strings.Replace(stat.Text(fi), " ", "1 ", 1)); ok {
		t.Errorf("remembered for another stat")
	}
}

// A file that has just changed may change again with the same times. So its digest is not remembered.
func TestFreshDigestsAreNotRemembered(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "program")
	if err := os.WriteFile(path, []byte("one"), 0o755); err != nil {
		t.Fatal(err)
	}
	d := NewDigests(state.Open(dir))
	d.Executable(path)
	fi, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := d.recall(path, stat.Text(fi)); ok && time.Since(stat.Changed(fi)) < settled {
		t.Error("it is remembered")
	}
}
