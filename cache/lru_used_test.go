//go:build unix

package cache_test

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/cache/cachetest"
)

// lruUses has the last uses that processes wrote.
type lruUses map[cache.Key]time.Time

// readUses returns the uses without those of a clock that was ahead.
func (m *lru) readUses() lruUses {
	uses := lruUses{}
	for key, at := range m.uses {
		if !at.After(time.Now().Add(time.Minute)) {
			uses[key] = at
		}
	}
	return uses
}

// latest returns the keys with the latest use, and its time.
func (u lruUses) latest() (keys map[cache.Key]bool, at time.Time) {
	keys = map[cache.Key]bool{}
	for key, used := range u {
		if used.After(at) {
			at = used
			clear(keys)
		}
		if used.Equal(at) {
			keys[key] = true
		}
	}
	return keys, at
}

// lastUse returns the last use of a record, from its modification time and the written uses.
func (m *lru) lastUse(key cache.Key, r *lruRecord) time.Time {
	at, ok := m.readUses()[key]
	if ok && (at.After(r.modified) || r.modified.After(time.Now())) {
		return at
	}
	return r.modified
}

// write writes the uses of a process to the model, and reports whether they differ from the last ones.
func (m *lru) write(p *process) bool {
	if len(p.used) == 0 {
		return false
	}
	uses := m.readUses()
	same, at := uses.latest()
	if maps.Equal(same, p.used) {
		return false
	}
	now := time.Now()
	if !now.After(at) {
		now = at.Add(time.Nanosecond)
	}
	for key := range p.used {
		uses[key] = now
	}
	m.uses = uses
	return true
}

// settle settles a process. If the same records were used last, nothing may be written.
func (m *lru) settle(p *process) {
	before := m.noteFiles()
	p.disk.Settle()
	if !m.write(p) && !maps.Equal(before, m.noteFiles()) {
		fatalf("the same use as before, and something was written")
	}
	p.used = map[cache.Key]bool{}
}

// written returns the file of uses.
func (m *lru) written() string {
	data, _ := os.ReadFile(filepath.Join(m.users[0].disk.Dir(), "used"))
	return string(data)
}

// noteFiles returns when each file of the store was modified.
func (m *lru) noteFiles() map[string]time.Time {
	all := map[string]time.Time{}
	_ = filepath.Walk(m.dir, func(path string, fi os.FileInfo, err error) error {
		if err == nil {
			all[path] = fi.ModTime()
		}
		return nil
	})
	return all
}

// shiftUses shifts the written uses, as back shifts the files.
func (m *lru) shiftUses(by time.Duration) {
	path := filepath.Join(m.users[0].disk.Dir(), "used")
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil {
		fatalf("%v", err)
	}
	for b := data[8:]; len(b) > 0; b = b[40:] {
		binary.LittleEndian.PutUint64(b[32:], binary.LittleEndian.Uint64(b[32:])+uint64(by))
	}
	if err = os.Remove(path); err == nil {
		err = os.WriteFile(path, data, 0o444)
	}
	if err != nil {
		fatalf("%v", err)
	}
	for key, at := range m.uses {
		m.uses[key] = at.Add(by)
	}
}

// Several processes run one after the other. Prune keeps the results that the last ones have used. A
// process with the same uses as the one before writes nothing.
func TestOrderOfProcesses(t *testing.T) {
	const n = 6
	base := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(base, "")
		if err != nil {
			rt.Fatal(err)
		}
		defer os.RemoveAll(dir)
		var turn [n]int // of the last process that used each result
		process := func(at int, keys []int) {
			d, err := cache.Open(dir, nil)
			if err != nil {
				rt.Fatal(err)
			}
			defer d.Close()
			defer d.Settle()
			for _, k := range keys {
				if turn[k] = at; d.Has(cache.Key{byte(k)}) {
					continue
				}
				if err := d.Record(cache.Key{byte(k)}, cachetest.Record(t, d, k)); err != nil {
					rt.Fatal(err)
				}
			}
		}
		process(1, []int{0, 1, 2, 3, 4, 5})
		m := &lru{dir: dir}
		for at := range rapid.IntRange(1, 12).Draw(rt, "processes") {
			keys := rapid.SliceOfNDistinct(rapid.IntRange(0, n-1), 1, n, rapid.ID).Draw(rt, "keys")
			process(2+at, keys)
			before := m.noteFiles()
			if process(2+at, keys); !maps.Equal(before, m.noteFiles()) {
				rt.Fatal("the same use as before, and something was written")
			}
		}
		d, err := cache.Open(dir, nil)
		if err != nil {
			rt.Fatal(err)
		}
		defer d.Close()
		st, err := d.Stats(t.Context())
		if err == nil {
			_, err = d.Prune(t.Context(), cache.Bounds{MaxSize: max(1, st.Bytes*rapid.Int64Range(60, 95).Draw(rt, "percent")/100)})
		}
		if err != nil {
			rt.Fatal(err)
		}
		gone := 0
		for k := range n {
			if !d.Has(cache.Key{byte(k)}) {
				gone = max(gone, turn[k])
			}
		}
		for k := range n {
			if d.Has(cache.Key{byte(k)}) && turn[k] < gone {
				rt.Fatalf("result %d stays, which was used in turn %d; one of turn %d is gone", k, turn[k], gone)
			}
		}
	})
}

// A prune includes the uses that its process has not written yet.
func TestPruneCountsWhatWasNoted(t *testing.T) {
	dir := t.TempDir()
	first := openDiskAt(t, dir)
	fill(t, first, 2)
	first.Settle()
	d, err := cache.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if !d.Has(cache.Key{0}) { // the older one
		t.Fatal("it is not there")
	}
	st, err := d.Stats(t.Context())
	if err == nil {
		_, err = d.Prune(t.Context(), cache.Bounds{MaxSize: st.Bytes * 6 / 10})
	}
	if err != nil {
		t.Fatal(err)
	}
	if !d.Has(cache.Key{0}) || d.Has(cache.Key{1}) {
		t.Error("the result that was used last is gone, or the other is not")
	}
}
