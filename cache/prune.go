package cache

import (
	"context"
	"encoding/hex"
	"errors"
	"io/fs"
	"runtime"
	"slices"
	"time"

	"github.com/bentobuild/bento/internal/owndir"
	"github.com/bentobuild/bento/internal/rawfile"
)

// A temporary file older than abandonedAge is left from a killed process.
const abandonedAge = time.Hour

// A blob without a record and older than unrecordedAge is left from a killed process, or its record
// was replaced. A process stores the record seconds after the blobs, or at the end of a single long
// task.
const unrecordedAge = 24 * time.Hour

func abandoned(info rawfile.Info) bool { return time.Since(info.Modified) > abandonedAge }

// Bounds limit the size and age of a pruned Disk. Zero is no limit.
type Bounds struct {
	MaxSize int64         // in bytes, as Stats counts them
	MaxAge  time.Duration // time since the last use
}

// Removed counts what was removed from a Disk.
type Removed struct {
	Records, Blobs int
	Bytes          int64
}

// Prune removes the least recently used results until the store is within b: each record with those
// of its blobs that no other record needs. It first removes a result that alone exceeds the bound.
// Without bounds it only removes abandoned files. Other processes may use the store meanwhile and do
// not wait; a pruned entry is a miss for them.
func (s *Disk) Prune(ctx context.Context, b Bounds) (Removed, error) {
	if b == (Bounds{}) {
		s.sweepTmp(abandoned)
		return Removed{}, nil
	}
	unlock, err := s.lockPruning(ctx)
	if err != nil {
		return Removed{}, err
	}
	defer unlock()
	return s.prune(ctx, b, b.MaxSize)
}

// prune reduces a store larger than b.MaxSize to target bytes, and writes its tally.
func (s *Disk) prune(ctx context.Context, b Bounds, target int64) (Removed, error) {
	s.WriteUses()
	st, err := s.stock()
	if err != nil {
		return Removed{}, err
	}
	defer runtime.KeepAlive(s)
	defer st.close()
	inv, err := s.takeInventory(ctx, st)
	if err != nil {
		return Removed{}, err
	}
	if len(inv.files) <= smallStore {
		target = b.MaxSize
	}
	gone, size := inv.keep(b, target)
	inv.restamp()
	removed, err := removeAll(ctx, inv.victims(gone), (*entry).removeUnused)
	if err != nil {
		return removed, err
	}
	s.noteTally(tally{size: size, listed: inv.now})
	s.sweepTmp(abandoned)
	st.sweep()
	return removed, nil
}

// victims returns the files of groups to remove, records before blobs, so that an existing record
// has its blobs. It keeps a record used since it was listed, and its blobs.
func (inv *inventory) victims(gone []group) []entry {
	var list []entry
	for i := range gone {
		g := &gone[i]
		if f := &inv.files[g.record]; unused(f) {
			list = append(list, *f)
		} else {
			inv.add(g)
		}
	}
	listed := make([]bool, len(inv.files))
	for _, g := range gone {
		for _, i := range g.blobs {
			if inv.needed[i] == 0 && !listed[i] && unused(&inv.files[i]) {
				listed[i] = true
				list = append(list, inv.files[i])
			}
		}
	}
	return list
}

func (f *entry) do(do func(dir *owndir.Dir, name string) error) error {
	kind := blobs
	if f.record {
		kind = records
	}
	dir, done, err := f.in.shard(kind, f.sum[0], false)
	if err != nil {
		return err
	}
	defer done()
	return do(dir, hex.EncodeToString(f.sum[1:])+f.suffix)
}

// unused reports whether a file was not used since it was listed.
func unused(f *entry) bool {
	var info rawfile.Info
	err := f.do(func(dir *owndir.Dir, name string) (err error) {
		info, err = dir.Stat(name)
		return err
	})
	return err == nil && info.Modified.Equal(f.modified)
}

// restamp sets the last use of files whose time is in the future to now, so that they age from now on.
func (inv *inventory) restamp() {
	for i := range inv.files {
		if f := &inv.files[i]; inv.ahead(f.modified) {
			f.modified = inv.used(i)
			_ = f.do(func(dir *owndir.Dir, name string) error {
				dir.Touch(name, f.modified)
				return nil
			})
		}
	}
}

// Clear removes all entries.
func (s *Disk) Clear(ctx context.Context) (Removed, error) {
	var files []entry
	all, err := s.stock()
	if err != nil {
		return Removed{}, err
	}
	defer runtime.KeepAlive(s)
	defer all.close()
	err = all.each(ctx, func(f entry) error {
		files = append(files, f)
		return nil
	})
	if err != nil {
		return Removed{}, err
	}
	s.sweepTmp(func(rawfile.Info) bool { return true })
	slices.SortStableFunc(files, func(a, b entry) int { return order(a) - order(b) })
	removed, err := removeAll(ctx, files, (*entry).remove)
	all.sweep()
	return removed, err
}

// remove removes a file.
func (f *entry) remove() (removed bool, err error) {
	err = f.do((*owndir.Dir).Remove)
	return err == nil || errors.Is(err, fs.ErrNotExist), err
}

// removeUnused removes a file that was not used since it was listed. Before a process writes a record it
// touches the blobs of the record. So removeUnused moves a blob aside before it reads its time again. A
// process that comes later finds the blob missing. If a process has touched it before, removeUnused moves
// it back.
func (f *entry) removeUnused() (removed bool, err error) {
	aside, done, err := f.in.temp(false)
	if f.record || err != nil {
		if err == nil {
			done()
		}
		if !unused(f) {
			return false, nil
		}
		return f.remove()
	}
	defer done()
	name := owndir.RandomName()
	err = f.do(func(dir *owndir.Dir, own string) error {
		if err := dir.Move(own, aside, name); err != nil {
			return err
		}
		info, err := aside.Stat(name)
		if err == nil && !info.Modified.Equal(f.modified) {
			return aside.Move(name, dir, own)
		}
		removed = true
		return aside.Remove(name)
	})
	return removed, err
}

// removeAll removes entries in order, by remove.
func removeAll(ctx context.Context, files []entry, remove func(*entry) (removed bool, err error)) (Removed, error) {
	var n Removed
	for i := range files {
		f := &files[i]
		if err := context.Cause(ctx); err != nil {
			return n, err
		}
		switch removed, err := remove(f); {
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return n, err
		case !removed:
			continue
		}
		n.Bytes += f.size
		if f.record {
			n.Records++
		} else {
			n.Blobs++
		}
	}
	return n, nil
}

// sweepTmp removes temporary files.
func (s *Disk) sweepTmp(old func(rawfile.Info) bool) {
	_ = s.with(false, func(f *format) error {
		dir, done, err := f.temp(false)
		if err != nil {
			return err
		}
		defer done()
		entries, _ := dir.Names()
		for _, e := range entries {
			if !owndir.IsRandomName(e.Name()) {
				continue // not a temporary file of bento
			}
			if info, err := dir.Stat(e.Name()); err == nil && info.Mode.IsRegular() && old(info) {
				_ = dir.Remove(e.Name())
			}
		}
		return nil
	})
}
