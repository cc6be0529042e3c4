package cache

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func partFiles(t *testing.T, s *Disk) (files []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(s.Dir(), tmpDir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// write opens the part of data, keeps the first from bytes of it, and appends those up to to.
func write(t *testing.T, s *Disk, data []byte, from, to int) *Part {
	t.Helper()
	p, err := s.Part(t.Context(), Sum(data))
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Cut(int64(from)); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Write(data[from:to]); err != nil {
		t.Fatal(err)
	}
	return p
}

func TestPart(t *testing.T) {
	dir := t.TempDir()
	open := func() *Disk {
		s, err := Open(dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Close)
		return s
	}
	s := open()
	data := bytes.Repeat([]byte("0123456789"), 1_000_000)
	d := Sum(data)
	if n := s.PartSize(d); n != 0 {
		t.Errorf("size of no part: %d", n)
	}
	write(t, s, data, 0, 3_000_000).Keep()
	s = open() // another process
	if n := s.PartSize(d); n != 3_000_000 {
		t.Errorf("size: %d", n)
	}
	p := write(t, s, data, 2_500_000, 9_000_000) // less than there is
	if _, err := open().Part(t.Context(), d); err == nil {
		t.Error("two have the part at the same time")
	}
	p.Keep()
	if err := write(t, s, data, 9_000_000, len(data)).Add(); err != nil {
		t.Fatal(err)
	}
	if files := partFiles(t, s); len(files) != 0 {
		t.Errorf("left in tmp: %v", files)
	}
	if !s.HasBlob(d) || !s.isWhole(d) {
		t.Error("the blob is not there")
	}
	info, err := os.Stat(s.path(blobs, d, ""))
	if err != nil || info.Mode().Perm()&0o444 != info.Mode().Perm() || info.Size() != int64(len(data)) {
		t.Errorf("the file of the blob: %v, %v", info, err)
	}
	if n := s.PartSize(d); n != 0 {
		t.Errorf("size after that: %d", n)
	}
}

func TestPartOfWrongContent(t *testing.T) {
	s, err := Open(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	data := bytes.Repeat([]byte("x"), 1000)
	p, err := s.Part(t.Context(), Sum([]byte("other")))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Write(data); err != nil {
		t.Fatal(err)
	}
	var wrong *DigestError
	if err := p.Add(); !errors.As(err, &wrong) {
		t.Errorf("%v, want a DigestError", err)
	}
	write(t, s, data, 0, 500).Drop()
	if files := partFiles(t, s); len(files) != 0 {
		t.Errorf("left in tmp: %v", files)
	}
	p = write(t, s, data, 0, 500)
	if err := p.Cut(600); err == nil {
		t.Error("kept bytes that the part does not have")
	}
	p.Drop()
	ctx, cancel := context.WithCancel(t.Context())
	write(t, s, data, 0, 500).Keep()
	if p, err = s.Part(ctx, Sum(data)); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := p.Cut(500); !errors.Is(err, context.Canceled) {
		t.Errorf("cut: %v", err)
	}
	if _, err := p.Write(data); !errors.Is(err, context.Canceled) {
		t.Errorf("write: %v", err)
	}
	p.Drop()
}

// A part to which nothing was added for an hour goes with the next pruning, and not before.
func TestPartsAgeOut(t *testing.T) {
	s, err := Open(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	old, young := bytes.Repeat([]byte("o"), 1000), bytes.Repeat([]byte("y"), 1000)
	write(t, s, old, 0, 500).Keep()
	write(t, s, young, 0, 500).Keep()
	before := time.Now().Add(-2 * abandonedAge)
	if err := os.Chtimes(filepath.Join(s.Dir(), tmpDir, partName(Sum(old))), before, before); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Prune(t.Context(), Bounds{}); err != nil {
		t.Fatal(err)
	}
	if s.PartSize(Sum(old)) != 0 || s.PartSize(Sum(young)) != 500 {
		t.Errorf("the old one has %d bytes, the young one %d", s.PartSize(Sum(old)), s.PartSize(Sum(young)))
	}
}

// What another user puts in the place of a part is not used.
func TestPartInTheWay(t *testing.T) {
	data := bytes.Repeat([]byte("x"), 1000)
	outside := filepath.Join(t.TempDir(), "outside")
	if err := os.WriteFile(outside, data[:500], 0o644); err != nil {
		t.Fatal(err)
	}
	for name, make := range map[string]func(at string) error{
		"link":        func(at string) error { return os.Symlink(outside, at) },
		"second name": func(at string) error { return os.Link(outside, at) },
		"directory":   func(at string) error { return os.Mkdir(at, 0o755) },
	} {
		s, err := Open(t.TempDir(), nil)
		if err != nil {
			t.Fatal(err)
		}
		write(t, s, []byte("another"), 0, 1).Drop() // makes the directory
		if err := make(filepath.Join(s.Dir(), tmpDir, partName(Sum(data)))); err != nil {
			t.Fatal(err)
		}
		if p, err := s.Part(t.Context(), Sum(data)); err == nil {
			t.Errorf("%s: used", name)
			p.Keep()
		}
		s.Close()
	}
	if info, err := os.Stat(outside); err != nil || info.Size() != 500 || info.Mode().Perm() != fs.FileMode(0o644) {
		t.Errorf("the file of another: %v, %v", info, err)
	}
}
