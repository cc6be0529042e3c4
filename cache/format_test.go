package cache

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"
)

// TestFormatIsPinned: a bento must not take records of another version for damage. If this test fails, the
// format has changed. Then change the directory of the store (formatDir) and the magic
// of records first, and the digest here last.
func TestFormatIsPinned(t *testing.T) {
	r := &Record{
		Outputs: []Output{
			{Path: "a", Kind: File, Mode: 0o755, Digest: Digest{1}, Size: 300},
			{Path: "b", Kind: Link, Target: "a"},
			{Path: "c", Kind: Dir, Mode: 0o700},
		},
		Exit: 1, Log: Digest{2}, LogSize: 1000, Pack: Digest{3}, Ingredients: Digest{4},
		Small:   map[Digest][]byte{Sum([]byte("small")): []byte("small"), Sum(nil): {}},
		Created: time.Unix(1_800_000_000, 5).UTC(), Duration: time.Minute, Host: "host",
	}
	data, err := EncodeRecord(Key{9}, r)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	const format, want = "v5", "3c5647d4"
	if got := Sum(data).String()[:8]; got != want || filepath.Base(s.Dir()) != format {
		t.Errorf("records of %s in %s: have the digest %s, want %s in %s", recordMagic[:6], filepath.Base(s.Dir()), got, want, format)
	}
}

// An entry of another version of bento is a miss without a warning. Its size is part of the store's, and
// Prune removes it.
func TestOtherFormats(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(dir, &Options{Warn: func(err error) { t.Error(err) }})
	if err != nil {
		t.Fatal(err)
	}
	key := Key{1}
	for _, format := range []string{"v1", "v4", "v999"} {
		for _, kind := range []string{"records", "blobs"} {
			path := filepath.Join(dir, format, kind, "01", key.String()[2:])
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte("what it keeps"), 0o444)); err != nil {
				t.Fatal(err)
			}
		}
	}
	notOurs := filepath.Join(dir, "videos", "01", "x")
	if err := errors.Join(os.MkdirAll(filepath.Dir(notOurs), 0o777), os.WriteFile(notOurs, nil, 0o444)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Lookup(key); !errors.Is(err, ErrMiss) {
		t.Errorf("lookup: %v, want ErrMiss", err)
	}
	want := Stats{Bytes: 6 * 4096, Older: []string{filepath.Join(dir, "v1"), filepath.Join(dir, "v4")}, OlderBytes: 4 * 4096}
	if st, err := s.Stats(t.Context()); err != nil || !reflect.DeepEqual(st, want) {
		t.Errorf("stats: %+v, %v", st, err)
	}
	if c, err := s.Fsck(t.Context()); err != nil || !reflect.DeepEqual(c, Check{}) {
		t.Errorf("fsck: %+v, %v", c, err)
	}
	if n, err := s.Prune(t.Context(), Bounds{MaxAge: time.Hour, MaxSize: 1 << 30}); err != nil || n != (Removed{}) {
		t.Errorf("pruned too early: %+v, %v", n, err)
	}
	if n, err := s.Prune(t.Context(), Bounds{MaxSize: 1}); err != nil || n.Bytes != 6*4096 {
		t.Errorf("pruned: %+v, %v", n, err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "v[0-9]*")); len(left) != 0 {
		t.Errorf("left: %q", left)
	}
	if _, err := os.Stat(notOurs); err != nil {
		t.Error(err)
	}
}
