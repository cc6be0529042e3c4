package cache_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/cache/cachetest"
)

// openDisk returns an empty store and the damage that it reports.
func openDisk(t testing.TB) (*cache.Disk, *[]error) {
	t.Helper()
	var mu sync.Mutex
	damage := &[]error{}
	d, err := cache.Open(filepath.Join(t.TempDir(), "cache"), &cache.Options{Warn: func(err error) {
		mu.Lock()
		defer mu.Unlock()
		*damage = append(*damage, err)
	}})
	if err != nil {
		t.Fatal(err)
	}
	return d, damage
}

func TestDisk(t *testing.T) {
	cachetest.Run(t, func(t *testing.T) cache.Store {
		d, damage := openDisk(t)
		t.Cleanup(func() {
			if len(*damage) != 0 {
				t.Errorf("damage: %v", *damage)
			}
			if left := entries(t, d, "tmp"); len(left) != 0 {
				t.Errorf("left in tmp: %q", left)
			}
		})
		return d
	})
}

// entries returns the files below a directory of the store.
func entries(t testing.TB, d *cache.Disk, kind string) []string {
	t.Helper()
	var paths []string
	err := filepath.WalkDir(filepath.Join(d.Dir(), kind), func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return paths
}

// D2: a blob that compresses well is compressed. Any other blob is stored unchanged, so that it can be
// shared.
func TestDiskEntries(t *testing.T) {
	d, _ := openDisk(t)
	for _, data := range cachetest.Blobs() {
		cachetest.Add(t, d, data)
	}
	var small, large int
	for _, path := range entries(t, d, "blobs") {
		fi, err := os.Stat(path)
		if err != nil || fi.Mode().Perm() != 0o444 {
			t.Errorf("%s: mode %v, %v", path, fi.Mode(), err)
		}
		if strings.HasSuffix(path, ".z") {
			small++
		} else {
			large++
		}
	}
	if small < 8 || large < 8 {
		t.Errorf("%d compressed and %d plain blobs: expected some of both", small, large)
	}
}

func readBlob(s cache.Store, d cache.Digest) ([]byte, error) {
	r, err := s.Open(d)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}

func TestOpenRelative(t *testing.T) {
	for _, dir := range []string{"", "cache", "./x"} {
		if _, err := cache.Open(dir, nil); err == nil {
			t.Errorf("%q: no error", dir)
		}
	}
}

// damages are ways to damage a file.
var damages = map[string]func(data []byte) []byte{
	"empty":      func([]byte) []byte { return nil },
	"cut":        func(b []byte) []byte { return b[:len(b)/2] },
	"cut by one": func(b []byte) []byte { return b[:len(b)-1] },
	"longer":     func(b []byte) []byte { return append(b, 0) },
	"flip first": func(b []byte) []byte { b[0] ^= 1; return b },
	"flip ninth": func(b []byte) []byte { b[min(8, len(b)-1)] ^= 0x80; return b },
	"flip last":  func(b []byte) []byte { b[len(b)-1] ^= 1; return b },
	"flip half":  func(b []byte) []byte { b[len(b)/2] ^= 1; return b },
	"zeros":      func(b []byte) []byte { return make([]byte, len(b)) },
	"foreign":    func([]byte) []byte { return []byte(strings.Repeat("something else\n", 20)) },
}

func damage(t *testing.T, path string, f func([]byte) []byte) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err == nil {
		err = errors.Join(os.Remove(path), os.WriteFile(path, f(data), 0o444))
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestDamagedBlob(t *testing.T) {
	for name, f := range damages {
		for kind, data := range map[string][]byte{
			"plain":      []byte("a small blob"),
			"packed":     []byte(strings.Repeat("a blob of one block\n", 1000)),
			"compressed": []byte(strings.Repeat("a large blob\n", 100_000)),
		} {
			t.Run(name+"/"+kind, func(t *testing.T) {
				s, warned := openDisk(t)
				d := cachetest.Add(t, s, data)
				path := entries(t, s, "blobs")[0]
				damage(t, path, f)
				r, err := s.Open(d)
				if err == nil {
					_, err = io.Copy(io.Discard, r)
					r.Close()
				}
				var broken *cache.DamageError
				if !errors.As(err, &broken) || !errors.Is(err, cache.ErrMiss) || len(*warned) != 1 {
					t.Errorf("read: %v; warned %v", err, *warned)
				}
				if _, err := s.Open(d); !errors.Is(err, cache.ErrMiss) || errors.As(err, &broken) {
					t.Errorf("again: %v, want a plain ErrMiss", err)
				}
				cachetest.Add(t, s, data)
				if r, err = s.Open(d); err != nil {
					t.Fatal(err)
				}
				defer r.Close()
				if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, data) {
					t.Errorf("after adding it again: %v", err)
				}
			})
		}
	}
}

func TestDamagedRecord(t *testing.T) {
	for name, f := range damages {
		t.Run(name, func(t *testing.T) {
			s, warned := openDisk(t)
			if err := s.Record(cache.Key{1}, cachetest.Record(t, s, 1)); err != nil {
				t.Fatal(err)
			}
			damage(t, entries(t, s, "records")[0], f)
			if r, err := s.Lookup(cache.Key{1}); !errors.Is(err, cache.ErrMiss) || len(*warned) != 1 {
				t.Errorf("lookup: %v, %v; warned %v", r, err, *warned)
			}
			if _, err := s.Lookup(cache.Key{1}); !errors.Is(err, cache.ErrMiss) || len(*warned) != 1 {
				t.Errorf("again: %v, want ErrMiss; warned %v", err, *warned)
			}
		})
	}
}

// A record that was moved to another key is not a hit for that key.
func TestMovedRecord(t *testing.T) {
	s, warned := openDisk(t)
	if err := s.Record(cache.Key{1}, &cache.Record{}); err != nil {
		t.Fatal(err)
	}
	path := entries(t, s, "records")[0]
	moved := filepath.Join(filepath.Dir(filepath.Dir(path)), "02", filepath.Base(path))
	if err := errors.Join(os.Mkdir(filepath.Dir(moved), 0o777), os.Rename(path, moved)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Lookup(cache.Key{2}); !errors.Is(err, cache.ErrMiss) || len(*warned) != 1 {
		t.Errorf("lookup: %v; warned %v", err, *warned)
	}
}

// A record never refers to missing blobs.
func TestRecordWithoutBlobs(t *testing.T) {
	s, _ := openDisk(t)
	r := cachetest.Record(t, s, 1)
	if err := os.Remove(entries(t, s, "blobs")[0]); err != nil {
		t.Fatal(err)
	}
	if err := s.Record(cache.Key{1}, r); !errors.Is(err, cache.ErrMiss) {
		t.Errorf("record: %v, want ErrMiss", err)
	}
}

func TestStatsAndClear(t *testing.T) {
	s, _ := openDisk(t)
	if st, err := s.Stats(t.Context()); err != nil || !reflect.DeepEqual(st, cache.Stats{}) {
		t.Errorf("of an empty store: %+v, %v", st, err)
	}
	for n := range 3 {
		if err := s.Record(cache.Key{byte(n)}, cachetest.Record(t, s, n)); err != nil {
			t.Fatal(err)
		}
	}
	st, err := s.Stats(t.Context())
	if err != nil || st.Records != 3 || st.Blobs != 12 || st.Bytes != 15*4096 || time.Since(st.Oldest) > time.Hour {
		t.Errorf("stats: %+v, %v", st, err)
	}
	foreign := filepath.Join(s.Dir(), "blobs", "README")
	if err := os.WriteFile(foreign, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	removed, err := s.Clear(t.Context())
	if want := (cache.Removed{Records: 3, Blobs: 12, Bytes: 15 * 4096}); err != nil || removed != want {
		t.Errorf("cleared %+v, %v, want %+v", removed, err, want)
	}
	if left := append(entries(t, s, "records"), entries(t, s, "blobs")...); !cmp.Equal(left, []string{foreign}) {
		t.Errorf("left: %q", left)
	}
}

func TestFsck(t *testing.T) {
	s, warned := openDisk(t)
	for n := range 4 {
		if err := s.Record(cache.Key{byte(n)}, cachetest.Record(t, s, n)); err != nil {
			t.Fatal(err)
		}
	}
	big := cachetest.Add(t, s, []byte(strings.Repeat("text\n", 100_000)))
	if got, err := s.Fsck(t.Context()); err != nil || !reflect.DeepEqual(got, cache.Check{Records: 4, Blobs: 17}) {
		t.Errorf("of a good store: %+v, %v", got, err)
	}
	for _, path := range entries(t, s, "blobs") {
		if strings.Contains(path, big.String()[2:]) {
			damage(t, path, damages["flip last"])
		}
	}
	damage(t, entries(t, s, "records")[0], damages["flip half"])
	log, err := s.Lookup(cache.Key{2})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range entries(t, s, "blobs") {
		if strings.Contains(path, log.Log.String()[2:]) {
			damage(t, path, damages["cut"])
		}
	}
	want := cache.Check{Records: 2, Blobs: 15, Damaged: 3, Incomplete: 1}
	if got, err := s.Fsck(t.Context()); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
	if len(*warned) != 3 {
		t.Errorf("warned %v", *warned)
	}
	if got, err := s.Fsck(t.Context()); err != nil || !reflect.DeepEqual(got, cache.Check{Records: 2, Blobs: 15}) {
		t.Errorf("again: %+v, %v", got, err)
	}
}

func TestUnusableDirectory(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	var refused *cache.DirError
	if _, err := cache.Open(file, nil); !errors.As(err, &refused) {
		t.Errorf("open: %v, want a *DirError", err)
	}
	if _, err := cache.Open(filepath.Join(file, "below"), nil); !errors.As(err, &refused) {
		t.Errorf("open below: %v, want a *DirError", err)
	}
}

func BenchmarkLookup(b *testing.B) {
	s, _ := openDisk(b)
	if err := s.Record(cache.Key{1}, cachetest.Record(b, s, 1)); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Lookup(cache.Key{1}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkLookupMiss(b *testing.B) {
	s, _ := openDisk(b)
	for b.Loop() {
		if _, err := s.Lookup(cache.Key{1}); !errors.Is(err, cache.ErrMiss) {
			b.Fatal(err)
		}
	}
}

func openDiskAt(t *testing.T, dir string) *cache.Disk {
	t.Helper()
	s, err := cache.Open(dir, &cache.Options{Warn: func(err error) { t.Error(err) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close) // a disk with open files cannot be unmounted
	return s
}

// A process that found the cache missing finds the records that another process writes later.
func TestDiskThatIsMissing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	open := func() *cache.Disk {
		d, err := cache.Open(dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	key := cache.Key{1}
	early, other := open(), open()
	if _, err := early.Lookup(key); !errors.Is(err, cache.ErrMiss) {
		t.Errorf("got %v, want a miss", err)
	}
	if err := other.Record(key, &cache.Record{}); err != nil {
		t.Fatal(err)
	}
	if _, err := early.Lookup(key); err != nil {
		t.Errorf("after another process has written: %v", err)
	}
}
