//go:build unix

package cache_test

import (
	"encoding/binary"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/cache/cachetest"
)

type (
	// lruRound is what one process has used, as it says at its end.
	lruRound struct {
		first, last time.Time
		keys        map[cache.Key]bool
	}
	// lruUsage is what a process knows of its use.
	lruUsage struct {
		read  bool
		last  *lruRound // when it was opened, or what it has said itself
		own   *lruRound // nil unless it has stamped something
		noted []cache.Key
		clock time.Time
	}
)

func (r *lruRound) holds(at time.Time) bool {
	return r != nil && !at.Before(r.first) && !at.After(r.last)
}

func (m *lru) readRound() *lruRound {
	if m.last != nil && m.last.last.After(time.Now().Add(time.Minute)) {
		return nil
	}
	return m.last
}

func (m *lru) usage(p *process) *lruUsage {
	u := &p.usage
	if !u.read {
		u.read, u.last = true, m.readRound()
		if u.last != nil {
			u.clock = u.last.last
		}
	}
	return u
}

// use is a hit of a record. One of the last round, of a process that has used nothing
// else, waits.
func (m *lru) use(p *process, key cache.Key, r *lruRecord) {
	u := m.usage(p)
	switch {
	case u.own != nil && u.own.keys[key] && u.own.holds(r.used), u.own == nil && slices.Contains(u.noted, key):
	case u.own == nil && u.last.holds(r.used):
		u.noted = append(u.noted, key)
	default:
		r.used = m.next(p, key)
	}
}

func (m *lru) next(p *process, key cache.Key) time.Time {
	u := m.usage(p)
	m.stamp0(u)
	now := time.Now()
	if !now.After(u.clock) {
		now = u.clock.Add(time.Microsecond)
	}
	if u.own.first.IsZero() {
		u.own.first = now
	}
	u.clock, u.own.last, u.own.keys[key] = now, now, true
	return now
}

// stamp0 stamps what waits.
func (m *lru) stamp0(u *lruUsage) {
	if u.own != nil {
		return
	}
	u.own, m.last = &lruRound{keys: map[cache.Key]bool{}}, nil
	noted := u.noted
	u.noted = nil
	for _, key := range noted {
		at := m.next(&process{usage: *u}, key)
		u.clock = at
		if r := m.records[key]; r != nil {
			r.used = at
		}
	}
}

func (m *lru) stampNoted(p *process) {
	if u := m.usage(p); len(u.noted) > 0 {
		m.stamp0(u)
	}
}

// settle ends the use of a process. Where it was the same as the last time, no record is
// stamped.
func (m *lru) settle(p *process) {
	before := m.noteFiles()
	p.disk.Settle()
	u := m.usage(p)
	if u.own == nil && len(u.noted) > 0 {
		used := map[cache.Key]bool{}
		for _, key := range u.noted {
			used[key] = true
		}
		if now := m.readRound(); now == nil || now != u.last || !maps.Equal(used, now.keys) {
			m.stamp0(u)
		} else if !maps.Equal(before, m.noteFiles()) {
			fatalf("the same use as before, and something was written")
		}
	}
	if u.own != nil {
		if m.readRound() == nil {
			m.last, u.last = u.own, u.own
		} else {
			m.last, u.last = nil, nil
		}
	}
	u.own, u.noted = nil, nil
}

// listed returns what the store says of when it was listed.
func (m *lru) listed() string {
	data, _ := os.ReadFile(filepath.Join(m.users[0].disk.Dir(), "tally"))
	return string(data[min(8, len(data)):])
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

// shiftRound is back for what the last process has said.
func (m *lru) shiftRound(by time.Duration) {
	if m.last == nil {
		return
	}
	shifted := *m.last
	shifted.first, shifted.last = shifted.first.Add(by), shifted.last.Add(by)
	m.last = &shifted
	path := filepath.Join(m.users[0].disk.Dir(), "used")
	data, err := os.ReadFile(path)
	if err != nil {
		fatalf("%v", err)
	}
	for _, b := range [][]byte{data, data[8:]} {
		binary.LittleEndian.PutUint64(b, binary.LittleEndian.Uint64(b)+uint64(by))
	}
	if err = os.Remove(path); err == nil {
		err = os.WriteFile(path, data, 0o444)
	}
	if err != nil {
		fatalf("%v", err)
	}
}

// Of processes one after the other, whatever each uses, the results that the last ones
// have used stay; and one that uses what the one before has used writes nothing.
func TestOrderOfProcesses(t *testing.T) {
	const n = 6
	base := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(base, "")
		if err != nil {
			rt.Fatal(err)
		}
		defer os.RemoveAll(dir)
		var turn [n]int // of the last process that has used a result
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

// A process that prunes counts what it has only noted.
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
