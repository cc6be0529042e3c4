package cache

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
)

// inventory lists all files of a store, and which records need which blobs.
type inventory struct {
	files   []entry
	records []holding // of the current format
	now     time.Time
	opened  time.Time // when this process opened the store
	needed  []int     // by the index of a file: number of kept records that need it
}

// holding is a record with its blobs, as indices of files.
type holding struct {
	record int
	blobs  []int
	whole  bool // all its blobs exist
}

// claim is a record with the digests of its blobs, as read.
type claim struct {
	file  entry
	needs []Digest
}

// takeInventory lists the store and reads its records. It lists all blobs first. A process writes a
// record, then touches its blobs. So either the record of a listed blob is listed too, or the blob has a
// later time than the listed one.
func (s *Disk) takeInventory(ctx context.Context, st *stock) (*inventory, error) {
	inv := &inventory{opened: s.opened}
	var files [kinds][shards][]entry
	var claims [shards][]claim
	err := eachShard(ctx, st.parts(blobs), func(shard int) (err error) {
		files[blobs][shard], err = st.list(ctx, nil, blobs, shard)
		return err
	})
	if err != nil {
		return nil, err
	}
	err = eachShard(ctx, st.parts(records), func(shard int) (err error) {
		files[records][shard], err = st.list(ctx, nil, records, shard)
		if err == nil {
			claims[shard], err = s.claims(ctx, files[records][shard])
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	at := make(map[[32]byte]int)
	for _, f := range slices.Concat(slices.Concat(files[blobs][:]...), slices.Concat(files[records][:]...)) {
		if f.record && !f.other {
			continue // a claim
		}
		if !f.other {
			at[f.sum] = len(inv.files)
		}
		inv.files = append(inv.files, f)
	}
	for shard := range shards {
		for i := range claims[shard] {
			s.hold(inv, at, &claims[shard][i])
		}
	}
	inv.needed = make([]int, len(inv.files))
	inv.now = s.now() // after the last use of every listed file
	inv.countUses(s.lastUses())
	return inv, nil
}

// eachShard calls do with every existing shard, on all processors.
func eachShard(ctx context.Context, there [shards]bool, do func(shard int) error) error {
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for shard := range shards {
		if !there[shard] {
			continue
		}
		group.Go(func() error {
			if err := context.Cause(ctx); err != nil {
				return err
			}
			return do(shard)
		})
	}
	return group.Wait()
}

// claims reads the records among files. It removes damaged records and skips records removed
// meanwhile. It returns the error of ctx.
func (s *Disk) claims(ctx context.Context, files []entry) (list []claim, err error) {
	for _, f := range files {
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		if !f.record || f.other {
			continue
		}
		r, modified, err := s.read(f.sum)
		if err != nil {
			continue
		}
		f.used, f.modified = modified, modified
		c := claim{file: f}
		r.blobs(func(d Digest) { c.needs = append(c.needs, d) })
		list = append(list, c)
	}
	return list, nil
}

// hold adds a record. It looks up blobs that were stored after their shard was listed. A record that was
// not listed may need such a blob, too. So a blob stays if the time of its listing is unknown.
func (s *Disk) hold(inv *inventory, at map[[32]byte]int, c *claim) {
	h := holding{record: len(inv.files), whole: true}
	inv.files = append(inv.files, c.file)
	for _, d := range c.needs {
		i, ok := at[d]
		if !ok {
			f, there := s.blobFile(d)
			if !there {
				h.whole = false
				continue
			}
			f.modified = time.Time{}
			i, at[d] = len(inv.files), len(inv.files)
			inv.files = append(inv.files, f)
		}
		h.blobs = append(h.blobs, i)
	}
	slices.Sort(h.blobs)
	h.blobs = slices.Compact(h.blobs)
	inv.records = append(inv.records, h)
}

// blobFile returns the entry of a blob, if it exists.
func (s *Disk) blobFile(d [32]byte) (file entry, ok bool) {
	_ = s.with(false, func(f *format) error {
		dir, done, err := f.shard(blobs, d[0], false)
		if err != nil {
			return err
		}
		defer done()
		for _, suffix := range []string{"", compressed} {
			info, err := dir.Stat(hex.EncodeToString(d[1:]) + suffix)
			if err == nil && info.Mode.IsRegular() {
				file, ok = entry{in: f, sum: d, suffix: suffix, size: blocks(info.Size), used: info.Modified, modified: info.Modified}, true
				return nil
			}
		}
		return nil
	})
	return file, ok
}

// group is a record with its blobs, or a file that no record needs. Prune keeps or removes a group
// as a whole.
type group struct {
	used time.Time
	holding
}

// clockSkew is the largest accepted difference between the clocks of two processes.
const clockSkew = time.Minute

// countUses sets the last uses of records.
func (inv *inventory) countUses(uses map[[32]byte]time.Time) {
	for _, h := range inv.records {
		f := &inv.files[h.record]
		if at, ok := uses[f.sum]; ok && (at.After(f.modified) || inv.ahead(f.modified)) {
			f.used = at
		}
	}
}

// ahead reports whether a time is in the future, because the clock was or is wrong.
func (inv *inventory) ahead(at time.Time) bool { return at.After(inv.now.Add(clockSkew)) }

// used returns the last use of a file. For a time in the future it returns the last moment before this
// process.
func (inv *inventory) used(i int) time.Time {
	if inv.ahead(inv.files[i].used) {
		return inv.opened.Add(-1)
	}
	return inv.files[i].used
}

// groups returns all groups, the last used first. Groups that one process used are sorted by modification
// time, the latest first.
func (inv *inventory) groups() []group {
	needed := make([]bool, len(inv.files))
	isRecord := make([]bool, len(inv.files))
	all := make([]group, 0, len(inv.records))
	for _, h := range inv.records {
		isRecord[h.record] = true
		for _, i := range h.blobs {
			needed[i] = true
		}
		all = append(all, group{used: inv.used(h.record), holding: h})
	}
	for i := range inv.files {
		if !needed[i] && !isRecord[i] {
			all = append(all, group{used: inv.used(i), holding: holding{record: i, whole: true}})
		}
	}
	slices.SortFunc(all, func(a, b group) int {
		x, y := &inv.files[a.record], &inv.files[b.record]
		return cmp.Or(b.used.Compare(a.used), y.modified.Compare(x.modified), bytes.Compare(x.sum[:], y.sum[:]))
	})
	return all
}

// keep selects the groups that stay within b. It returns the others and the size of the kept ones.
// If all files together exceed b.MaxSize it keeps at most target bytes.
func (inv *inventory) keep(b Bounds, target int64) (gone []group, size int64) {
	var fit []group
	for _, g := range inv.groups() {
		if !inv.hopeless(&g, b) {
			fit = append(fit, g)
			size += inv.add(&g)
		} else {
			gone = append(gone, g)
		}
	}
	if b.MaxSize <= 0 || size <= b.MaxSize {
		return gone, size
	}
	for size > target && len(fit) > 0 {
		last := len(fit) - 1
		size -= inv.take(&fit[last])
		gone = append(gone, fit[last])
		fit = fit[:last]
	}
	return gone, size
}

// hopeless reports whether a group is removed in any case: it lacks a blob, is too old, alone exceeds the
// bound, or is a blob without a record for longer than unrecordedAge.
func (inv *inventory) hopeless(g *group, b Bounds) bool {
	f, age := &inv.files[g.record], inv.now.Sub(g.used)
	switch {
	case !g.whole, b.MaxAge > 0 && age > b.MaxAge:
		return true
	case !f.record && !f.other && age > unrecordedAge:
		return true
	case b.MaxSize <= 0:
		return false
	}
	size := f.size
	for _, i := range g.blobs {
		size += inv.files[i].size
	}
	return size > b.MaxSize
}

// add adds a group to the kept ones and returns by how many bytes the kept size grows.
func (inv *inventory) add(g *group) int64 {
	size := inv.files[g.record].size
	for _, i := range g.blobs {
		if inv.needed[i]++; inv.needed[i] == 1 {
			size += inv.files[i].size
		}
	}
	return size
}

// take uncounts a group and returns by how many bytes the kept size shrinks.
func (inv *inventory) take(g *group) int64 {
	size := inv.files[g.record].size
	for _, i := range g.blobs {
		if inv.needed[i]--; inv.needed[i] == 0 {
			size += inv.files[i].size
		}
	}
	return size
}
