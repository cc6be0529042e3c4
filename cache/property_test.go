//go:build unix

package cache_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/bentobuild/bento/cache"
)

// model is the expected content of a store.
type model struct {
	blobs   map[cache.Digest]string
	records map[cache.Key]*cache.Record
	less    bool // entries may be missing
	damaged bool
}

// A store is a map. After a prune or damage entries may be missing, but none is wrong.
func TestDiskIsAMap(t *testing.T) {
	base := t.TempDir()
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		dir := filepath.Join(base, fmt.Sprint(n))
		defer os.RemoveAll(dir)
		m := &model{blobs: map[cache.Digest]string{}, records: map[cache.Key]*cache.Record{}}
		s, err := cache.Open(dir, &cache.Options{Warn: func(err error) {
			if !m.damaged {
				rt.Error(err)
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		for range rapid.IntRange(1, 40).Draw(rt, "steps") {
			m.step(rt, s)
		}
		m.all(rt, s)
	})
}

// step does one random operation on a store. Most operations read only a few files.
func (m *model) step(rt *rapid.T, s *cache.Disk) {
	switch rapid.IntRange(0, 99).Draw(rt, "step") {
	case 0:
		m.all(rt, s)
	case 1:
		m.clear(rt, s)
	case 2:
		m.prune(rt, s)
	case 3, 4:
		m.damage(rt, s)
	default:
		rapid.SampledFrom([]func(*rapid.T, cache.Store){m.add, m.open, m.record, m.lookup, m.has}).Draw(rt, "what")(rt, s)
	}
}

// all checks every entry.
func (m *model) all(rt *rapid.T, s *cache.Disk) {
	c, err := s.Fsck(context.Background())
	if err != nil || !m.less && (c.Blobs != len(m.blobs) || c.Records != len(m.records)) || !m.damaged && c.Damaged > 0 || !m.less && c.Incomplete > 0 {
		rt.Fatalf("%+v, %v: expected %d blobs, %d records", c, err, len(m.blobs), len(m.records))
	}
	if again, err := s.Fsck(context.Background()); err != nil || again.Damaged+again.Incomplete > 0 {
		rt.Fatalf("checked once more: %+v, %v", again, err)
	}
	for d, want := range m.blobs {
		if got, err := readBlob(s, d); err == nil && string(got) != want || err != nil && !m.less {
			rt.Fatalf("a blob of %d bytes: %d bytes, %v", len(want), len(got), err)
		}
	}
	for key := range m.records { // every record that fsck has left is complete
		if r, err := s.Lookup(key); err == nil && len(r.Outputs) > 0 {
			if got, err := readBlob(r.With(s), r.Outputs[0].Digest); err != nil || cache.Sum(got) != r.Outputs[0].Digest {
				rt.Fatalf("the blob of a record: %v", err)
			}
		}
	}
}

func (m *model) clear(rt *rapid.T, s *cache.Disk) {
	n, err := s.Clear(context.Background())
	if err != nil || !m.less && (n.Blobs != len(m.blobs) || n.Records != len(m.records)) {
		rt.Fatalf("%+v, %v", n, err)
	}
	clear(m.blobs)
	clear(m.records)
	m.less = false
}

// prune prunes a store to bounds that may fit all of it, or nothing.
func (m *model) prune(rt *rapid.T, s *cache.Disk) {
	b := cache.Bounds{MaxSize: rapid.SampledFrom([]int64{1, 4096, 20_000, 1 << 30}).Draw(rt, "size")}
	n, err := s.Prune(context.Background(), b)
	if err != nil {
		rt.Fatal(err)
	}
	m.less = m.less || n != cache.Removed{}
	if st, err := s.Stats(context.Background()); err != nil || st.Bytes > b.MaxSize {
		rt.Fatalf("pruned to %d: %+v, %v", b.MaxSize, st, err)
	}
}

// damage changes a byte of a file of the store, or cuts the file.
func (m *model) damage(rt *rapid.T, s *cache.Disk) {
	files, err := filepath.Glob(filepath.Join(s.Dir(), "*", "*", "*"))
	if err != nil || len(files) == 0 {
		return
	}
	name := rapid.SampledFrom(files).Draw(rt, "file")
	data, err := os.ReadFile(name)
	if err != nil || len(data) == 0 {
		return
	}
	at := rapid.IntRange(0, len(data)-1).Draw(rt, "at")
	if rapid.Bool().Draw(rt, "cut") {
		data = data[:at]
	} else {
		data[at] ^= 1 << rapid.IntRange(0, 7).Draw(rt, "bit")
	}
	m.less, m.damaged = true, true
	if err := errors.Join(os.Chmod(name, 0o644), os.WriteFile(name, data, 0o644)); err != nil {
		rt.Fatal(err)
	}
}

func drawBlob(rt *rapid.T) (string, cache.Digest) {
	unit := rapid.SampledFrom([]string{"a", "b", "ab"}).Draw(rt, "unit")
	data := strings.Repeat(unit, rapid.SampledFrom([]int{0, 1, 5000, 140_000}).Draw(rt, "count"))
	return data, cache.Sum([]byte(data))
}

func (m *model) add(rt *rapid.T, s cache.Store) {
	data, d := drawBlob(rt)
	if err := s.Add(d, strings.NewReader(data)); err != nil {
		rt.Fatal(err)
	}
	m.blobs[d] = data
}

func (m *model) open(rt *rapid.T, s cache.Store) {
	_, d := drawBlob(rt)
	want, ok := m.blobs[d]
	got, err := readBlob(s, d)
	if m.less && errors.Is(err, cache.ErrMiss) {
		return
	}
	if ok != (err == nil) || !ok && !errors.Is(err, cache.ErrMiss) || string(got) != want {
		rt.Fatalf("open: %d bytes, %v; expected %v, %d bytes", len(got), err, ok, len(want))
	}
}

func drawKey(rt *rapid.T) cache.Key { return cache.Key{rapid.Byte().Draw(rt, "key") % 4} }

func (m *model) record(rt *rapid.T, s cache.Store) {
	data, d := drawBlob(rt)
	key := drawKey(rt)
	r := &cache.Record{Outputs: []cache.Output{{Path: "a", Kind: cache.File, Digest: d, Size: int64(len(data))}}}
	r.Created = r.Created.AddDate(2000, 0, 0)
	if rapid.Bool().Draw(rt, "with it") {
		if err := r.With(s).Add(d, strings.NewReader(data)); err != nil {
			rt.Fatal(err)
		}
		if _, own := r.Small[d]; !own {
			m.blobs[d] = data
		}
	}
	err := s.Record(key, r)
	if _, own := r.Small[d]; own {
		if err != nil {
			rt.Fatal(err)
		}
		m.records[key] = r
		return
	}
	if _, ok := m.blobs[d]; errors.Is(err, cache.ErrMiss) && (!ok || m.less) {
		return
	} else if err != nil || !ok {
		rt.Fatalf("record: %v, with its blob: %v", err, ok)
	}
	m.records[key] = r
}

func (m *model) lookup(rt *rapid.T, s cache.Store) {
	key := drawKey(rt)
	got, err := s.Lookup(key)
	if m.less && errors.Is(err, cache.ErrMiss) {
		return
	}
	if want, ok := m.records[key]; ok && (err != nil || !cmp.Equal(got, want)) || !ok && !errors.Is(err, cache.ErrMiss) {
		rt.Fatalf("lookup: %v, %v; expected %v", got, err, want)
	}
}

func (m *model) has(rt *rapid.T, s cache.Store) {
	key := drawKey(rt)
	has := s.(*cache.Disk).Has(key)
	if _, ok := m.records[key]; has && !ok || ok && !has && !m.less {
		rt.Fatalf("has: %v; expected %v", has, ok)
	}
}
