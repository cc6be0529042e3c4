package shelf

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

// Needs calls each with the digest of every blob that the record in data, which lies
// under key, needs. An error says that the data is no record.
type Needs func(key [32]byte, data []byte, each func(d [32]byte)) error

// inventory is everything that lies on a shelf, and which records need which blobs.
type inventory struct {
	files   []File
	records []holding // of the current format
	now     time.Time
	opened  time.Time // when this process began to use the shelf
	needed  []int     // by the index of a file: how many records that stay need it
}

// holding is a record with its blobs, as indices of files.
type holding struct {
	record int
	blobs  []int
	whole  bool // no blob is missing
}

// claim is a record with the digests of its blobs, as it was read.
type claim struct {
	file  File
	needs [][32]byte
}

// takeInventory lists the shelf and reads its records.
func (s *Shelf) takeInventory(ctx context.Context, st *stock, needs Needs) (*inventory, error) {
	inv := &inventory{opened: s.opened}
	there := st.parts()
	var files [shards][]File
	var claims [shards][]claim
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for shard := range shards {
		if !there[shard] {
			continue
		}
		group.Go(func() (err error) {
			if err = context.Cause(ctx); err == nil {
				files[shard], err = st.list(nil, shard)
			}
			if err == nil {
				claims[shard] = s.claims(files[shard], needs)
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	at := make(map[[32]byte]int)
	for shard := range shards {
		for _, f := range files[shard] {
			if !f.Record || f.other {
				if !f.other {
					at[f.Sum] = len(inv.files)
				}
				inv.files = append(inv.files, f)
			}
		}
	}
	for shard := range shards {
		for i := range claims[shard] {
			s.hold(inv, at, &claims[shard][i])
		}
	}
	inv.needed = make([]int, len(inv.files))
	inv.now = s.now() // not before the last file was stamped that is listed
	return inv, nil
}

// claims reads the records among files. One that is damaged is dropped, one that is gone
// is passed over.
func (s *Shelf) claims(files []File, needs Needs) (list []claim) {
	for _, f := range files {
		if !f.Record || f.other {
			continue
		}
		data, used, err := s.ReadRecord(f.Sum, MaxRecord)
		if err != nil {
			continue
		}
		f.used = used
		c := claim{file: f}
		if err := needs(f.Sum, data, func(d [32]byte) { c.needs = append(c.needs, d) }); err != nil {
			_ = s.DropRecord(f.Sum, err)
			continue
		}
		list = append(list, c)
	}
	return list
}

// hold adds a record. A blob that was stored after its part of the shelf was listed is
// looked up.
func (s *Shelf) hold(inv *inventory, at map[[32]byte]int, c *claim) {
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
			i, at[d] = len(inv.files), len(inv.files)
			inv.files = append(inv.files, f)
		}
		h.blobs = append(h.blobs, i)
	}
	slices.Sort(h.blobs)
	h.blobs = slices.Compact(h.blobs)
	inv.records = append(inv.records, h)
}

// blobFile returns the entry of a blob, if it is there.
func (s *Shelf) blobFile(d [32]byte) (file File, ok bool) {
	_ = s.with(false, func(f *format) error {
		dir, done, err := f.shard(blobs, d[0], false)
		if err != nil {
			return err
		}
		defer done()
		for _, suffix := range []string{"", compressed} {
			info, err := dir.Stat(hex.EncodeToString(d[1:]) + suffix)
			if err == nil && info.Mode.IsRegular() {
				file, ok = File{in: f, Sum: d, suffix: suffix, size: blocks(info.Size), used: info.Modified}, true
				return nil
			}
		}
		return nil
	})
	return file, ok
}

// group is what stays or goes as one: a record with its blobs, or a file that no record
// needs.
type group struct {
	used time.Time
	holding
}

// clockSkew is how far the clocks of two processes may be apart.
const clockSkew = time.Minute

// ahead reports whether a file has a stamp of a time that has not come yet: the clock was
// wrong then, or is wrong now.
func (inv *inventory) ahead(i int) bool { return inv.files[i].used.After(inv.now.Add(clockSkew)) }

// used returns when a file was last used. Where it cannot be right, it counts as the last
// moment before this process.
func (inv *inventory) used(i int) time.Time {
	if inv.ahead(i) {
		return inv.opened.Add(-1)
	}
	return inv.files[i].used
}

// groups returns all groups, the one that was used last first.
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
		return cmp.Or(b.used.Compare(a.used), bytes.Compare(inv.files[a.record].Sum[:], inv.files[b.record].Sum[:]))
	})
	return all
}

// keep decides which groups stay within b, and returns the others, with the size of what
// stays. Where the files together are larger than b.MaxSize, they are brought to target.
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

// hopeless reports whether a group goes whatever else there is: it lacks a blob, is too
// old, is larger than the bound by itself, or is a blob that whoever stored it has not
// recorded for so long that it never will.
func (inv *inventory) hopeless(g *group, b Bounds) bool {
	f, age := &inv.files[g.record], inv.now.Sub(g.used)
	switch {
	case !g.whole, b.MaxAge > 0 && age > b.MaxAge:
		return true
	case !f.Record && !f.other && age > unrecordedAge:
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

// add counts a group in, and returns by how much that makes the shelf larger.
func (inv *inventory) add(g *group) int64 {
	size := inv.files[g.record].size
	for _, i := range g.blobs {
		if inv.needed[i]++; inv.needed[i] == 1 {
			size += inv.files[i].size
		}
	}
	return size
}

// take counts a group out, and returns by how much that makes the shelf smaller.
func (inv *inventory) take(g *group) int64 {
	size := inv.files[g.record].size
	for _, i := range g.blobs {
		if inv.needed[i]--; inv.needed[i] == 0 {
			size += inv.files[i].size
		}
	}
	return size
}
