package cache

import (
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func newStore(t *testing.T) (s *Disk, dir string) {
	t.Helper()
	dir = t.TempDir()
	s, err := Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s, dir
}

// put writes a file into the directory of the store directly.
func put(t *testing.T, path string, data []byte) {
	t.Helper()
	_ = os.Remove(path) // it may be read-only
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, data, 0o600)); err != nil {
		t.Fatal(err)
	}
}

func (s *Disk) content(d Digest) (string, error) {
	b, err := s.Open(d)
	if err != nil {
		return "", err
	}
	defer b.Close()
	data, err := io.ReadAll(b)
	return string(data), err
}

// After a damaged blob was found, Add replaces another damaged blob and keeps an intact one.
func TestAddAfterDamage(t *testing.T) {
	s, _ := newStore(t)
	sums := map[string]Digest{}
	for _, text := range []string{"first", "second", "whole"} {
		sums[text] = Sum([]byte(text))
		if err := s.Add(sums[text], strings.NewReader(text)); err != nil {
			t.Fatal(err)
		}
	}
	put(t, s.path(blobs, sums["first"], ""), []byte("tsrif"))
	put(t, s.path(blobs, sums["second"], ""), []byte("dnoces"))
	var damage *DamageError
	if _, err := s.content(sums["first"]); !errors.As(err, &damage) {
		t.Fatalf("got %v, want a DamageError", err)
	}
	for text, r := range map[string]io.Reader{"second": strings.NewReader("second"), "whole": strings.NewReader("not to be read")} {
		if err := s.Add(sums[text], r); err != nil {
			t.Error(err)
		}
		if got, err := s.content(sums[text]); got != text || err != nil {
			t.Errorf("got %q, %v, want %q", got, err, text)
		}
	}
}

// The block of a small blob cannot claim gigabytes: its size must be that of the header.
func TestBlockOfAnotherSize(t *testing.T) {
	s, _ := newStore(t)
	sum := Sum([]byte("content"))
	for _, claimed := range []uint64{1, 1 << 31} {
		put(t, s.path(blobs, sum, compressed), append(appendHeader(nil, sMagic, 8000), binary.AppendUvarint(nil, claimed)...))
		var damage *DamageError
		if _, err := s.content(sum); !errors.As(err, &damage) || !strings.Contains(err.Error(), "another size") {
			t.Errorf("a block of %d bytes: %v", claimed, err)
		}
	}
}

// The store ignores a file of its own that is too large or has a second hard link.
func TestNoted(t *testing.T) {
	s, dir := newStore(t)
	if err := s.Record(Key{1}, &Record{}); err != nil {
		t.Fatal(err)
	}
	s.note(usedFile, []byte("noted"))
	if got, ok := s.noted(usedFile, 5); string(got) != "noted" || !ok {
		t.Errorf("got %q, %v", got, ok)
	}
	if got, ok := s.noted(usedFile, 4); ok {
		t.Errorf("too large: got %q", got)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*", usedFile))
	if len(files) != 1 {
		t.Fatalf("found %q", files)
	}
	if err := os.Link(files[0], filepath.Join(dir, "second")); err != nil {
		t.Fatal(err)
	}
	if got, ok := s.noted(usedFile, 5); ok {
		t.Errorf("with a second link: got %q", got)
	}
}
