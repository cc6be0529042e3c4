package shelf

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"io/fs"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/bentobuild/bento/internal/owndir"
	"github.com/bentobuild/bento/internal/rawfile"
)

// shards is the fan-out of records and blobs.
const shards = 256

// A temporary file that is older has been left by a process that was killed.
const abandonedAge = time.Hour

func abandoned(info rawfile.Info) bool { return time.Since(info.Modified) > abandonedAge }

// Stats says what a shelf holds.
type Stats struct {
	Records, Blobs int
	Bytes          int64     // on the disk, in blocks of 4 KiB
	Oldest, Newest time.Time // last use, to within hours; zero when it holds nothing
}

// Bounds are what Prune keeps a shelf within. Zero is no bound.
type Bounds struct {
	MaxSize int64         // in bytes, as Stats counts them
	MaxAge  time.Duration // since the last use
}

// Removed says what was removed from a shelf.
type Removed struct {
	Records, Blobs int
	Bytes          int64
}

// File is one entry of a shelf.
type File struct {
	Sum    [32]byte
	Record bool // or a blob

	in     *format
	suffix string // of its name
	size   int64  // in blocks
	used   time.Time
	other  bool // of another format
}

// Stats counts the entries; those of other formats only in Bytes.
func (s *Shelf) Stats(ctx context.Context) (Stats, error) {
	var st Stats
	all, err := s.stock()
	if err != nil {
		return st, err
	}
	defer runtime.KeepAlive(s)
	defer all.close()
	err = all.each(ctx, func(f File) error {
		st.Bytes += f.size
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

// Prune removes what was not used for longest until the shelf is within b. With a
// deadline it looks at as many of the 256 parts of the shelf as fit half of it,
// other ones each time, and takes them for the whole; when somebody else prunes, it
// leaves it to them. Readers and writers need not wait: what is pruned under them is
// a miss.
func (s *Shelf) Prune(ctx context.Context, b Bounds) (Removed, error) {
	if b == (Bounds{}) {
		s.sweepTmp(abandoned)
		return Removed{}, nil
	}
	unlock, err := s.lockPruning(ctx)
	if unlock == nil {
		return Removed{}, err
	}
	defer unlock()
	all, err := s.stock()
	if err != nil {
		return Removed{}, err
	}
	defer runtime.KeepAlive(s)
	defer all.close()
	files, part, err := all.sample(ctx)
	if err != nil {
		return Removed{}, err
	}
	cutoff := b.cutoff(files, part, time.Now())
	old := func(f *File) bool { return f.used.Before(cutoff) && unused(f) }
	if part < 1 && slices.ContainsFunc(files, func(f File) bool { return !f.Record && old(&f) }) {
		if err := s.setWhole(cutoff); err != nil {
			return Removed{}, err
		}
	}
	removed, err := removeAll(ctx, files, old)
	if err == nil {
		s.pruned(removed)
	}
	if part == 1 && err == nil {
		s.forgetWhole(cutoff)
	}
	if part == 1 {
		s.sweepTmp(abandoned)
		all.sweep()
	}
	return removed, err
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

// unused tells whether a file was not used since it was listed.
func unused(f *File) bool {
	var info rawfile.Info
	err := f.do(func(dir *owndir.Dir, name string) (err error) {
		info, err = dir.Stat(name)
		return err
	})
	return err == nil && !info.Modified.After(f.used)
}

// Clear removes all entries.
func (s *Shelf) Clear(ctx context.Context) (Removed, error) {
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
	removed, err := removeAll(ctx, files, func(*File) bool { return true })
	if err == nil {
		s.forgetWhole(time.Now())
	}
	all.sweep()
	return removed, err
}

// sample lists entries, of all shards if there is time; part is the share of them
// that was looked at.
func (st *stock) sample(ctx context.Context) (files []File, part float64, err error) {
	var until time.Time
	if deadline, ok := ctx.Deadline(); ok {
		until = time.Now().Add(time.Until(deadline) / 2)
	}
	there := st.parts()
	first, seen := rand.IntN(shards), 0
	for ; seen < shards && ctx.Err() == nil; seen++ {
		if seen > 0 && !until.IsZero() && time.Now().After(until) {
			break
		}
		shard := (first + seen) % shards
		if !there[shard] {
			continue
		}
		if files, err = st.list(files, shard); err != nil {
			return nil, 0, err
		}
	}
	return files, float64(seen) / shards, context.Cause(ctx)
}

// cutoff gives the time of last use before which entries have to go.
func (b Bounds) cutoff(files []File, part float64, now time.Time) time.Time {
	var cutoff time.Time
	if b.MaxAge > 0 {
		cutoff = now.Add(-b.MaxAge)
	}
	if b.MaxSize <= 0 {
		return cutoff
	}
	slices.SortFunc(files, func(a, b File) int { return b.used.Compare(a.used) })
	total := 0.0
	for i := range files {
		// One large blob in a small sample says nothing of the rest of the shelf.
		typical := min(files[i].size, b.MaxSize/1000)
		total += float64(files[i].size) + float64(typical)*(1/part-1)
		if total > float64(b.MaxSize) {
			return slices.MaxFunc([]time.Time{cutoff, files[i].used.Add(1)}, time.Time.Compare)
		}
	}
	return cutoff
}

// removeAll removes entries, records before blobs: a record that is there has its
// blobs.
func removeAll(ctx context.Context, files []File, drop func(*File) bool) (Removed, error) {
	var n Removed
	for _, records := range []bool{true, false} {
		for i := range files {
			f := &files[i]
			if f.Record != records || !drop(f) {
				continue
			}
			if err := context.Cause(ctx); err != nil {
				return n, err
			}
			if err := f.do((*owndir.Dir).Remove); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return n, err
			}
			n.Bytes += f.size
			if f.Record {
				n.Records++
			} else {
				n.Blobs++
			}
		}
	}
	return n, nil
}

// sweepTmp removes temporary files.
func (s *Shelf) sweepTmp(old func(rawfile.Info) bool) {
	_ = s.with(false, func(f *format) error {
		dir, done, err := f.temp(false)
		if err != nil {
			return err
		}
		defer done()
		entries, _ := dir.Names()
		for _, e := range entries {
			if !owndir.IsRandomName(e.Name()) {
				continue // it is none of ours
			}
			if info, err := dir.Stat(e.Name()); err == nil && info.Mode.IsRegular() && old(info) {
				_ = dir.Remove(e.Name())
			}
		}
		return nil
	})
}

// Each calls f with every entry of the current format, until that returns an error.
func (s *Shelf) Each(ctx context.Context, f func(File) error) error {
	err := s.with(false, func(now *format) error {
		st := stock{all: []*format{now}, current: now}
		return st.each(ctx, f)
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func (st *stock) each(ctx context.Context, f func(File) error) error {
	var files []File
	for i, there := range st.parts() {
		if !there {
			continue
		}
		var err error
		if files, err = st.list(files[:0], i); err == nil {
			err = context.Cause(ctx)
		}
		for j := 0; j < len(files) && err == nil; j++ {
			err = f(files[j])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// parts tells which shards there are in any of the formats. A shard that cannot be
// told is one: whoever lists it finds out.
func (st *stock) parts() (there [shards]bool) {
	for _, f := range st.all {
		for kind := range kinds {
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
	}
	return there
}

// names lists a directory of the format.
func (f *format) names(name string) ([]fs.DirEntry, error) {
	dir, err := f.Enter(name, false)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return dir.Names()
}

// list adds the entries of a shard to files. What else lies there is not ours.
func (st *stock) list(files []File, shard int) ([]File, error) {
	for _, f := range st.all {
		for kind := range kinds {
			from := len(files)
			var err error
			if files, err = f.list(files, kind, byte(shard)); err != nil {
				return files, err
			}
			for i := from; i < len(files); i++ {
				files[i].Record, files[i].other = kind == records, f != st.current
			}
		}
	}
	return files, nil
}

func (f *format) list(files []File, kind int, shard byte) ([]File, error) {
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
		info, err := dir.Stat(e.Name())
		if err != nil || !info.Mode.IsRegular() {
			continue
		}
		one := File{in: f, Sum: sum, size: blocks(info.Size), used: info.Modified}
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
