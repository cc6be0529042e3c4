//go:build unix

package cache_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/bentobuild/bento/cache"
)

// TestPruneIsLRU compares a store with a list of results by last use, of which the oldest are removed
// until it fits. The steps store, share and look up results, kill processes, and change the clock.
func TestPruneIsLRU(t *testing.T) {
	base := t.TempDir()
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		dir := filepath.Join(base, fmt.Sprint(n))
		defer os.RemoveAll(dir)
		var failed any
		synctest.Test(t, func(*testing.T) { // the test controls the clock
			defer func() { failed = recover() }()
			m := &lru{dir: dir, records: map[cache.Key]*lruRecord{}, blobs: map[cache.Digest]*lruBlob{}}
			m.bound = rapid.Int64Range(1, 40).Draw(rt, "bound") * 4096
			m.open(rt)
			m.open(rt)
			for range rapid.IntRange(1, 30).Draw(rt, "steps") {
				time.Sleep(time.Millisecond)
				m.step(rt)
				m.compare(rt)
			}
		})
		if f, ok := failed.(failure); ok {
			rt.Fatal(f)
		}
		if failed != nil {
			panic(failed)
		}
	})
}

// failure is a failed check, which leaves the bubble as a panic.
type failure string

func fatalf(format string, args ...any) { panic(failure(fmt.Sprintf(format, args...))) }

type (
	lruRecord struct {
		modified time.Time
		size     int64
		blobs    []cache.Digest
	}
	lruBlob struct {
		used time.Time
		size int64
	}
	// process is one process with its own Disk of the store.
	process struct {
		disk   *cache.Disk
		opened time.Time
		added  int64              // since it has reported them
		used   map[cache.Key]bool // since it was opened or settled
	}
	lru struct {
		dir     string
		bound   int64
		users   []*process
		records map[cache.Key]*lruRecord
		blobs   map[cache.Digest]*lruBlob
		lost    int64 // added by processes that were killed
		uses    lruUses
	}
)

func (m *lru) open(rt *rapid.T) *process {
	d, err := cache.Open(m.dir, &cache.Options{Bounds: cache.Bounds{MaxSize: m.bound}, Warn: func(err error) { fatalf("%v", err) }})
	if err != nil {
		fatalf("%v", err)
	}
	p := &process{disk: d, opened: time.Now(), used: map[cache.Key]bool{}}
	m.users = append(m.users, p)
	return p
}

func (m *lru) step(rt *rapid.T) {
	i := rapid.IntRange(0, len(m.users)-1).Draw(rt, "process")
	p := m.users[i]
	switch rapid.SampledFrom([]string{"store", "store", "store", "look", "look", "add", "prune", "keep", "keep", "settle", "settle", "end", "end", "halt", "kill", "wait", "back"}).Draw(rt, "step") {
	case "store":
		m.store(rt, p)
	case "look":
		m.look(rt, p)
	case "add": // the process is killed before it stores the record
		m.add(rt, p, drawBlock(rt))
	case "prune":
		m.prune(rt, p)
	case "keep":
		m.keep(rt)
	case "halt":
		m.halt(rt, p)
	case "settle":
		m.settle(p)
	case "end":
		m.settle(p)
		fallthrough
	case "kill":
		m.lost += p.added
		p.disk.Close()
		m.users = slices.Delete(m.users, i, i+1)
		m.open(rt)
	case "wait":
		time.Sleep(time.Duration(rapid.IntRange(1, 30).Draw(rt, "hours")) * time.Hour)
	case "back":
		m.back(rt, time.Duration(rapid.IntRange(1, 30).Draw(rt, "hours"))*time.Hour)
	}
}

// drawBlock draws one of a few blobs that have a few blocks and cannot be compressed.
func drawBlock(rt *rapid.T) []byte {
	n := rapid.IntRange(1, 8).Draw(rt, "blob")
	data := make([]byte, 4096*n-7)
	rand.NewChaCha8([32]byte{byte(n)}).Read(data)
	return data
}

func blocksOf(n int) int64 { return int64(n+4095) / 4096 * 4096 }

func (m *lru) add(rt *rapid.T, p *process, data []byte) cache.Digest {
	d := cache.Sum(data)
	if err := p.disk.Add(d, bytes.NewReader(data)); err != nil {
		fatalf("%v", err)
	}
	if m.blobs[d] == nil {
		p.added += blocksOf(len(data))
	}
	m.blobs[d] = &lruBlob{used: time.Now(), size: blocksOf(len(data))}
	return d
}

func drawLRUKey(rt *rapid.T) cache.Key { return cache.Key{rapid.Byte().Draw(rt, "key") % 6} }

func (m *lru) store(rt *rapid.T, p *process) {
	r, key := &cache.Record{Created: time.Now()}, drawLRUKey(rt)
	in := &lruRecord{}
	for i := range rapid.IntRange(0, 3).Draw(rt, "outputs") {
		data := drawBlock(rt)
		d := m.add(rt, p, data)
		r.Outputs = append(r.Outputs, cache.Output{Path: fmt.Sprint(i), Kind: cache.File, Digest: d, Size: int64(len(data))})
		in.blobs = append(in.blobs, d)
	}
	data, err := cache.EncodeRecord(key, r)
	if err != nil {
		fatalf("%v", err)
	}
	if err := p.disk.Record(key, r); err != nil {
		fatalf("%v", err)
	}
	in.modified, p.used[key] = time.Now(), true
	in.size = blocksOf(len(data))
	p.added += in.size
	m.records[key] = in
}

// look uses a result, with or without reading its record.
func (m *lru) look(rt *rapid.T, p *process) {
	key := drawLRUKey(rt)
	r := m.records[key]
	if rapid.Bool().Draw(rt, "in place") {
		recent := r != nil && time.Since(r.modified).Abs() <= 6*time.Hour
		if got := p.disk.Has(key); got != recent {
			fatalf("has: %v, want %v", got, recent)
		}
		if recent {
			p.used[key] = true
		}
		return
	}
	if _, err := p.disk.Lookup(key); (err == nil) != (r != nil) {
		fatalf("lookup: %v, want %v", err, r != nil)
	}
	if r == nil {
		return
	}
	if time.Since(r.modified).Abs() > 6*time.Hour {
		for _, d := range r.blobs {
			m.blobs[d].used = time.Now()
		}
		r.modified = time.Now()
	}
	p.used[key] = true
}

func (m *lru) prune(rt *rapid.T, p *process) {
	b := cache.Bounds{MaxSize: rapid.Int64Range(0, 40).Draw(rt, "size") * 4096}
	if rapid.Bool().Draw(rt, "by age") {
		b.MaxAge = time.Duration(rapid.IntRange(1, 40).Draw(rt, "age")) * time.Hour
	}
	if _, err := p.disk.Prune(context.Background(), b); err != nil {
		fatalf("%v", err)
	}
	if b != (cache.Bounds{}) {
		m.write(p)
		m.drop(b, p.opened)
		m.lost = 0
	}
}

// keep makes all processes keep the bound, as they do after they have added something. Any of them may
// find that it must prune.
func (m *lru) keep(rt *rapid.T) {
	b := cache.Bounds{MaxSize: m.bound}
	for _, p := range m.users {
		before := m.written()
		if err := p.disk.PruneToBounds(context.Background()); err != nil {
			fatalf("%v", err)
		}
		p.added = 0
		if m.written() != before {
			m.write(p)
		}
		if m.differs() != "" {
			m.lost = 0
			m.drop(b, p.opened)
		}
		m.restamp()
	}
	if m.size() > m.bound+m.lost {
		fatalf("%d bytes are left of %d", m.size(), m.bound)
	}
}

// halt prunes and is killed during the prune.
func (m *lru) halt(rt *rapid.T, p *process) {
	ctx := &mortal{Context: context.Background()}
	ctx.left.Store(rapid.Int64Range(0, 12).Draw(rt, "looks"))
	b := cache.Bounds{MaxSize: rapid.Int64Range(1, 40).Draw(rt, "size") * 4096}
	_, err := p.disk.Prune(ctx, b)
	m.write(p)
	if err == nil {
		m.drop(b, p.opened)
		m.lost = 0
		return
	}
	before := m.clone()
	before.drop(b, p.opened)
	there := m.there()
	for key := range m.records {
		if !there[fmt.Sprintf("records %x", key[:])] {
			if before.records[key] != nil {
				fatalf("a record is gone that was to stay")
			}
			delete(m.records, key)
		}
	}
	for d := range m.blobs {
		if !there[fmt.Sprintf("blobs %x", d[:])] {
			delete(m.blobs, d)
		}
	}
	m.restamp()
}

// restamp copies the modification times of the store to the model. A prune may have corrected times of a
// clock that was ahead, or was killed before.
func (m *lru) restamp() {
	for key, r := range m.records {
		r.modified = m.stamp("records", key[:])
	}
	for d, b := range m.blobs {
		b.used = m.stamp("blobs", d[:])
	}
}

func (m *lru) stamp(kind string, sum []byte) time.Time {
	fi, err := os.Stat(filepath.Join(m.users[0].disk.Dir(), kind, fmt.Sprintf("%x", sum[:1]), fmt.Sprintf("%x", sum[1:])))
	if err != nil {
		return time.Time{}
	}
	return fi.ModTime()
}

// mortal is a context that is cancelled after some calls of Err.
type mortal struct {
	context.Context
	left atomic.Int64
}

func (c *mortal) Err() error {
	if c.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// back moves all times into the future, as if the clock had been ahead until now.
func (m *lru) back(rt *rapid.T, by time.Duration) {
	for name := range m.there() {
		var kind, digits string
		fmt.Sscan(name, &kind, &digits)
		path := filepath.Join(m.users[0].disk.Dir(), kind, digits[:2], digits[2:])
		fi, err := os.Stat(path)
		if err == nil {
			err = os.Chtimes(path, time.Time{}, fi.ModTime().Add(by))
		}
		if err != nil {
			fatalf("%v", err)
		}
	}
	for _, r := range m.records {
		r.modified = r.modified.Add(by)
	}
	m.shiftUses(by)
	for _, b := range m.blobs {
		b.used = b.used.Add(by)
	}
}

// drop removes from the model what Prune should remove.
func (m *lru) drop(b cache.Bounds, opened time.Time) {
	now := time.Now()
	used, modified := map[cache.Key]time.Time{}, map[[32]byte]time.Time{}
	for key, r := range m.records {
		modified[key] = r.modified
		if used[key] = m.lastUse(key, r); used[key].After(now) {
			used[key] = opened.Add(-1)
		}
		if r.modified.After(now) {
			r.modified = used[key]
		}
	}
	for d, blob := range m.blobs {
		modified[d] = blob.used
		if blob.used.After(now) {
			blob.used = opened.Add(-1)
		}
	}
	needed := func(d cache.Digest) bool {
		for _, r := range m.records {
			if slices.Contains(r.blobs, d) {
				return true
			}
		}
		return false
	}
	type entry struct {
		used, modified time.Time
		sum            [32]byte
		record         bool
	}
	var all []entry
	for key := range m.records {
		all = append(all, entry{used[key], modified[key], key, true})
	}
	for d, blob := range m.blobs {
		if !needed(d) {
			all = append(all, entry{blob.used, modified[d], d, false})
		}
	}
	slices.SortFunc(all, func(x, y entry) int {
		return cmp.Or(x.used.Compare(y.used), x.modified.Compare(y.modified), bytes.Compare(y.sum[:], x.sum[:]))
	})
	remove := func(e entry) {
		if !e.record {
			delete(m.blobs, e.sum)
			return
		}
		r := m.records[e.sum]
		delete(m.records, e.sum)
		for _, d := range r.blobs {
			if !needed(d) {
				delete(m.blobs, d)
			}
		}
	}
	all = slices.DeleteFunc(all, func(e entry) bool {
		age := now.Sub(e.used)
		bad := b.MaxAge > 0 && age > b.MaxAge || !e.record && age > 24*time.Hour || b.MaxSize > 0 && m.alone(e.sum, e.record) > b.MaxSize
		if bad {
			remove(e)
		}
		return bad
	})
	for b.MaxSize > 0 && m.size() > b.MaxSize {
		remove(all[0])
		all = all[1:]
	}
}

// alone returns the size of a result without sharing.
func (m *lru) alone(sum [32]byte, record bool) int64 {
	if !record {
		return m.blobs[sum].size
	}
	r := m.records[sum]
	size := r.size
	for i, d := range r.blobs {
		if !slices.Contains(r.blobs[:i], d) {
			size += m.blobs[d].size
		}
	}
	return size
}

func (m *lru) size() (n int64) {
	for _, r := range m.records {
		n += r.size
	}
	for _, b := range m.blobs {
		n += b.size
	}
	return n
}

func (m *lru) clone() *lru {
	c := &lru{dir: m.dir, bound: m.bound, users: m.users, uses: m.uses, records: map[cache.Key]*lruRecord{}, blobs: map[cache.Digest]*lruBlob{}}
	for key, r := range m.records {
		copied := *r
		c.records[key] = &copied
	}
	for d, b := range m.blobs {
		copied := *b
		c.blobs[d] = &copied
	}
	return c
}

// there returns the entries of the store.
func (m *lru) there() map[string]bool {
	all := map[string]bool{}
	for _, kind := range []string{"records", "blobs"} {
		files, _ := filepath.Glob(filepath.Join(m.users[0].disk.Dir(), kind, "*", "*"))
		for _, f := range files {
			all[kind+" "+filepath.Base(filepath.Dir(f))+filepath.Base(f)] = true
		}
	}
	return all
}

func (m *lru) differs() string {
	want := map[string]bool{}
	for key := range m.records {
		want[fmt.Sprintf("records %x", key[:])] = true
	}
	for d := range m.blobs {
		want[fmt.Sprintf("blobs %x", d[:])] = true
	}
	return gocmp.Diff(want, m.there())
}

func (m *lru) compare(rt *rapid.T) {
	if diff := m.differs(); diff != "" {
		fatalf("-want +got:\n%s", diff)
	}
}
