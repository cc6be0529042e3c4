package diskstore

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"io/fs"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/bentobuild/bento/internal/owndir"
	"github.com/bentobuild/bento/internal/rawfile"
)

// shards is the number of directories that records, and blobs, are spread over.
const shards = 256

// A temporary file older than abandonedAge is left from a killed process.
const abandonedAge = time.Hour

// A blob without a record and older than unrecordedAge is left from a killed process, or its record
// was replaced. A process stores the record seconds after the blobs, or at the end of a single long
// task.
const unrecordedAge = 24 * time.Hour

func abandoned(info rawfile.Info) bool { return time.Since(info.Modified) > abandonedAge }

// Stats is the content of a store in numbers.
type Stats struct {
	Records, Blobs int
	Bytes          int64     // disk usage in blocks of 4 KiB
	Oldest, Newest time.Time // last use, to within hours; zero for an empty store
	// Older are the directories of formats that this bento does not read and an older bento may
	// use. Bytes includes their OlderBytes.
	Older      []string
	OlderBytes int64
}

// Bounds limit the size and age of a pruned store. Zero is no limit.
type Bounds struct {
	MaxSize int64         // in bytes, as Stats counts them
	MaxAge  time.Duration // time since the last use
}

// Removed counts what was removed from a store.
type Removed struct {
	Records, Blobs int
	Bytes          int64
}

// File is one entry of a store.
type File struct {
	Sum    [32]byte
	Record bool // otherwise a blob

	in       *format
	suffix   string    // of the file name
	size     int64     // in blocks
	used     time.Time // the modification time, or a later use
	modified time.Time
	other    bool // of another format
}

// Stats counts the entries. Of other formats it counts only the bytes.
func (s *Store) Stats(ctx context.Context) (Stats, error) {
	var st Stats
	all, err := s.stock()
	if err != nil {
		return st, err
	}
	defer runtime.KeepAlive(s)
	defer all.close()
	older := make(map[*format]bool)
	for _, f := range all.older() {
		older[f] = true
		st.Older = append(st.Older, f.Path())
	}
	slices.Sort(st.Older) // file systems list directories in different orders
	err = all.each(ctx, func(f File) error {
		st.Bytes += f.size
		if older[f.in] {
			st.OlderBytes += f.size
		}
		switch {
		case f.other:
			return nil
		case f.Record:
			st.Records++
		default:
			st.Blobs++
		}
		if st.Oldest.IsZero() || f.used.Before(st.Oldest) {
			st.Oldest = f.used
		}
		if f.used.After(st.Newest) {
			st.Newest = f.used
		}
		return nil
	})
	return st, err
}

// Prune removes the least recently used results, each with the blobs that no other needs, until the
// store is within b. Without bounds it only removes abandoned files. Readers and writers do not
// wait; a pruned entry is a miss for them.
func (s *Store) Prune(ctx context.Context, b Bounds, needs Needs) (Removed, error) {
	if b == (Bounds{}) {
		s.sweepTmp(abandoned)
		return Removed{}, nil
	}
	unlock, err := s.lockPruning(ctx)
	if err != nil {
		return Removed{}, err
	}
	defer unlock()
	return s.prune(ctx, b, b.MaxSize, needs)
}

// prune reduces a store larger than b.MaxSize to target bytes, and writes its tally.
func (s *Store) prune(ctx context.Context, b Bounds, target int64, needs Needs) (Removed, error) {
	s.WriteUses()
	st, err := s.stock()
	if err != nil {
		return Removed{}, err
	}
	defer runtime.KeepAlive(s)
	defer st.close()
	inv, err := s.takeInventory(ctx, st, needs)
	if err != nil {
		return Removed{}, err
	}
	if len(inv.files) <= smallStore {
		target = b.MaxSize
	}
	gone, size := inv.keep(b, target)
	inv.restamp()
	removed, err := removeAll(ctx, inv.victims(gone), (*File).removeUnused)
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
func (inv *inventory) victims(gone []group) []File {
	var list []File
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

func (f *File) do(do func(dir *owndir.Dir, name string) error) error {
	kind := blobs
	if f.Record {
		kind = records
	}
	dir, done, err := f.in.shard(kind, f.Sum[0], false)
	if err != nil {
		return err
	}
	defer done()
	return do(dir, hex.EncodeToString(f.Sum[1:])+f.suffix)
}

// unused reports whether a file was not used since it was listed.
func unused(f *File) bool {
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
func (s *Store) Clear(ctx context.Context) (Removed, error) {
	var files []File
	all, err := s.stock()
	if err != nil {
		return Removed{}, err
	}
	defer runtime.KeepAlive(s)
	defer all.close()
	err = all.each(ctx, func(f File) error {
		files = append(files, f)
		return nil
	})
	if err != nil {
		return Removed{}, err
	}
	s.sweepTmp(func(rawfile.Info) bool { return true })
	slices.SortStableFunc(files, func(a, b File) int { return order(a) - order(b) })
	removed, err := removeAll(ctx, files, (*File).remove)
	all.sweep()
	return removed, err
}

// order sorts records before blobs.
func order(f File) int {
	if f.Record {
		return 0
	}
	return 1
}

// remove removes a file.
func (f *File) remove() (removed bool, err error) {
	err = f.do((*owndir.Dir).Remove)
	return err == nil || errors.Is(err, fs.ErrNotExist), err
}

// removeUnused removes a file that was not used since it was listed. Before a process writes a record it
// touches the blobs of the record. So removeUnused moves a blob aside before it reads its time again. A
// process that comes later finds the blob missing. If a process has touched it before, removeUnused moves
// it back.
func (f *File) removeUnused() (removed bool, err error) {
	aside, done, err := f.in.temp(false)
	if f.Record || err != nil {
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
func removeAll(ctx context.Context, files []File, remove func(*File) (removed bool, err error)) (Removed, error) {
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
		if f.Record {
			n.Records++
		} else {
			n.Blobs++
		}
	}
	return n, nil
}

// sweepTmp removes temporary files.
func (s *Store) sweepTmp(old func(rawfile.Info) bool) {
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

// Each calls f with every entry of the current format until f returns an error.
func (s *Store) Each(ctx context.Context, f func(File) error) error {
	err := s.with(false, func(now *format) error {
		st := stock{all: []*format{now}, current: now}
		return st.each(ctx, f)
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// each calls f with every record, then with every blob.
func (st *stock) each(ctx context.Context, f func(File) error) error {
	var files []File
	for kind := range kinds {
		for i, there := range st.parts(kind) {
			if !there {
				continue
			}
			var err error
			if files, err = st.list(ctx, files[:0], kind, i); err == nil {
				err = context.Cause(ctx)
			}
			for j := 0; j < len(files) && err == nil; j++ {
				err = f(files[j])
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// parts reports which shards of a kind exist in any of the formats. It includes a shard that it
// cannot check; listing that shard reports the error.
func (st *stock) parts(kind int) (there [shards]bool) {
	for _, f := range st.all {
		entries, err := f.names(nameOf(kind))
		for i := range there {
			there[i] = there[i] || err != nil && !errors.Is(err, fs.ErrNotExist)
		}
		for _, e := range entries {
			if b, err := hex.DecodeString(e.Name()); err == nil && len(b) == 1 {
				there[b[0]] = true
			}
		}
	}
	return there
}

// names returns the entries of a directory of the format.
func (f *format) names(name string) ([]fs.DirEntry, error) {
	dir, err := f.Enter(name, false)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return dir.Names()
}

// list appends the entries of a shard of a kind to files. It skips all other files.
func (st *stock) list(ctx context.Context, files []File, kind, shard int) ([]File, error) {
	for _, f := range st.all {
		from := len(files)
		var err error
		if files, err = f.list(ctx, files, kind, byte(shard)); err != nil {
			return files, err
		}
		for i := from; i < len(files); i++ {
			files[i].Record, files[i].other = kind == records, f != st.current
		}
	}
	return files, nil
}

func (f *format) list(ctx context.Context, files []File, kind int, shard byte) ([]File, error) {
	dir, done, err := f.shard(kind, shard, false)
	if errors.Is(err, fs.ErrNotExist) {
		return files, nil
	}
	if err != nil {
		return files, err
	}
	defer done()
	entries, err := dir.Names()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return files, err
	}
	first := hex.EncodeToString([]byte{shard})
	for _, e := range entries {
		digits, isCompressed := strings.CutSuffix(e.Name(), compressed)
		sum, ok := parse(first + digits)
		if !ok {
			continue
		}
		if err := context.Cause(ctx); err != nil {
			return files, err
		}
		info, err := dir.Stat(e.Name())
		if err != nil || !info.Mode.IsRegular() {
			continue
		}
		one := File{in: f, Sum: sum, size: blocks(info.Size), used: info.Modified, modified: info.Modified}
		if isCompressed {
			one.suffix = compressed
		}
		files = append(files, one)
	}
	return files, nil
}

func blocks(size int64) int64 { return (cmp.Or(size, 1) + blockSize - 1) / blockSize * blockSize }

func parse(digits string) (sum [32]byte, ok bool) {
	if len(digits) != hex.EncodedLen(len(sum)) || digits != strings.ToLower(digits) {
		return sum, false
	}
	_, err := hex.Decode(sum[:], []byte(digits))
	return sum, err == nil
}
