package cache

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func opened(t *testing.T, dir string, blobs ...string) *Disk {
	t.Helper()
	s, err := Open(dir, &Options{Bounds: Bounds{MaxSize: 1 << 30, MaxAge: time.Hour}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	for _, text := range blobs {
		if err := s.Add(Sum([]byte(text)), strings.NewReader(text)); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func counted(t *testing.T, s *Disk) int64 {
	t.Helper()
	if err := s.PruneToBounds(t.Context()); err != nil {
		t.Fatal(err)
	}
	tally, ok := s.readTally()
	if !ok {
		t.Fatal("no tally")
	}
	return tally.size
}

// TestNewStoreIsNotListed checks that the process that makes a store counts the bytes that it has added. A
// store of another process, or one beside an older format, is listed.
func TestNewStoreIsNotListed(t *testing.T) {
	const one, two = int64(4096), int64(8192)
	dir := t.TempDir()
	first := opened(t, dir, "a")
	opened(t, dir, "b") // it is killed, so only a listing counts its bytes
	if got := counted(t, first); got != one {
		t.Errorf("the maker counts %d bytes, want %d", got, one)
	}
	if got := counted(t, first); got != one {
		t.Errorf("the maker counts %d bytes again, want %d", got, one)
	}
	_ = os.Remove(filepath.Join(first.Dir(), tallyFile))
	if got := counted(t, first); got != two {
		t.Errorf("without a tally the maker counts %d bytes, want %d", got, two)
	}

	dir = t.TempDir()
	first = opened(t, dir, "a")
	if got := counted(t, opened(t, dir, "b")); got != two {
		t.Errorf("another process counts %d bytes before the maker, want %d", got, two)
	}
	if got := counted(t, first); got < two {
		t.Errorf("the maker counts %d bytes after another process, want %d or more", got, two)
	}

	dir = t.TempDir()
	first = opened(t, dir, "a")
	if err := os.Rename(first.Dir(), filepath.Join(dir, "v1")); err != nil {
		t.Fatal(err)
	}
	if second := opened(t, dir, "b"); second.isNew() {
		t.Error("a store beside an older format counts as new")
	}
}

// TestAhead checks that the directories of a record exist before the record is written. A store in which
// nothing can be made reports that at the write.
func TestAhead(t *testing.T) {
	key := Key{0xab, 1}
	s := opened(t, filepath.Join(t.TempDir(), "cache"))
	s.Ahead(key)
	for _, dir := range []string{tmpDir, nameOf(records) + "/ab"} {
		if fi, err := os.Stat(filepath.Join(s.Dir(), dir)); err != nil || !fi.IsDir() {
			t.Errorf("%s: %v", dir, err)
		}
	}
	if err := s.Record(key, &Record{}); err != nil {
		t.Error(err)
	}

	dir := filepath.Join(t.TempDir(), "cache")
	s = opened(t, dir)
	if err := os.WriteFile(dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s.Ahead(key)
	if err := s.Record(key, &Record{}); err == nil {
		t.Error("a record was written below a file")
	}
}
