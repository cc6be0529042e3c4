//go:build unix

package cache_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/bentobuild/bento/cache"
)

// model is what a store should hold.
type model struct {
	blobs   map[cache.Digest]string
	records map[cache.Key]*cache.Record
}

// A store is a map, until something is pruned: then it may have less, but nothing
// wrong.
func TestDiskIsAMap(t *testing.T) {
	base := t.TempDir()
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		s, err := cache.Open(filepath.Join(base, fmt.Sprint(n)), &cache.Options{Warn: func(err error) { rt.Error(err) }})
		if err != nil {
			t.Fatal(err)
		}
		m := model{map[cache.Digest]string{}, map[cache.Key]*cache.Record{}}
		rt.Repeat(map[string]func(*rapid.T){
			"add":    func(rt *rapid.T) { m.add(rt, s) },
			"open":   func(rt *rapid.T) { m.open(rt, s) },
			"record": func(rt *rapid.T) { m.record(rt, s) },
			"lookup": func(rt *rapid.T) { m.lookup(rt, s) },
			"fsck": func(rt *rapid.T) {
				if c, err := s.Fsck(t.Context()); err != nil || c.Blobs != len(m.blobs) || c.Records != len(m.records) {
					rt.Fatalf("%+v, %v: expected %d blobs, %d records", c, err, len(m.blobs), len(m.records))
				}
			},
			"clear": func(rt *rapid.T) {
				if n, err := s.Clear(t.Context()); err != nil || n.Blobs != len(m.blobs) || n.Records != len(m.records) {
					rt.Fatalf("%+v, %v", n, err)
				}
				clear(m.blobs)
				clear(m.records)
			},
		})
	})
}

func drawBlob(rt *rapid.T) (string, cache.Digest) {
	unit := rapid.SampledFrom([]string{"a", "b", "ab"}).Draw(rt, "unit")
	data := strings.Repeat(unit, rapid.SampledFrom([]int{0, 1, 5000, 140_000}).Draw(rt, "count"))
	return data, cache.Sum([]byte(data))
}

func (m model) add(rt *rapid.T, s cache.Store) {
	data, d := drawBlob(rt)
	if err := s.Add(d, strings.NewReader(data)); err != nil {
		rt.Fatal(err)
	}
	m.blobs[d] = data
}

func (m model) open(rt *rapid.T, s cache.Store) {
	_, d := drawBlob(rt)
	want, ok := m.blobs[d]
	got, err := readBlob(s, d)
	if ok != (err == nil) || !ok && !errors.Is(err, cache.ErrMiss) || string(got) != want {
		rt.Fatalf("open: %d bytes, %v; expected %v, %d bytes", len(got), err, ok, len(want))
	}
}

func (m model) record(rt *rapid.T, s cache.Store) {
	data, d := drawBlob(rt)
	key := cache.Key{rapid.Byte().Draw(rt, "key") % 4}
	r := &cache.Record{Outputs: []cache.Output{{Path: "a", Kind: cache.File, Digest: d, Size: int64(len(data))}}}
	r.Created = r.Created.AddDate(2000, 0, 0)
	err := s.Record(key, r)
	if _, ok := m.blobs[d]; !ok {
		if !errors.Is(err, cache.ErrMiss) {
			rt.Fatalf("record without its blob: %v", err)
		}
		return
	}
	if err != nil {
		rt.Fatal(err)
	}
	m.records[key] = r
}

func (m model) lookup(rt *rapid.T, s cache.Store) {
	key := cache.Key{rapid.Byte().Draw(rt, "key") % 4}
	got, err := s.Lookup(key)
	if want, ok := m.records[key]; ok && (err != nil || !cmp.Equal(got, want)) || !ok && !errors.Is(err, cache.ErrMiss) {
		rt.Fatalf("lookup: %v, %v; expected %v", got, err, want)
	}
}
