package snapshot

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestFilesRead(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("some", "text")
	write("empty", "")
	write("large", "")
	if err := errors.Join(os.Truncate(filepath.Join(dir, "large"), MaxManifest+1), os.Symlink("some", filepath.Join(dir, "link")),
		syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o644)); err != nil {
		t.Fatal(err)
	}
	f := NewFiles(dir)
	for name, want := range map[string]string{"some": "text", "link": "text", "empty": ""} {
		if data, err := f.Read(name); err != nil || data == nil || string(data) != want {
			t.Errorf("%s: %q, %v", name, data, err)
		}
	}
	for name, want := range map[string]string{".": "not a regular file", "pipe": "not a regular file", "large": "larger than 16 MiB"} {
		if _, err := f.Read(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
	if _, err := f.Read("none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
	if data, err := f.ReadIfExists("none"); data != nil || err != nil {
		t.Errorf("%q, %v", data, err)
	}
	if got := len(f.Reads()); got != 7 {
		t.Errorf("%d reads", got)
	}
}
