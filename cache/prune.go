package cache

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// shards is the fan-out of records and blobs.
const shards = 256

// A temporary file that is older has been left by a process that was killed.
const abandonedAge = time.Hour

func abandoned(fi fs.FileInfo) bool { return time.Since(fi.ModTime()) > abandonedAge }

// Stats says what a Disk holds.
type Stats struct {
	Records, Blobs int
	Bytes          int64     // on the disk, in blocks of 4 KiB
	Oldest, Newest time.Time // last use, to within hours; zero when it holds nothing
}

// Bounds are what Prune keeps a Disk within. Zero is no bound.
type Bounds struct {
	MaxSize int64         // in bytes, as Stats counts them
	MaxAge  time.Duration // since the last use
}

// Removed says what was removed from a Disk.
type Removed struct {
	Records, Blobs int
	Bytes          int64
}

// file is one entry of a Disk.
type file struct {
	path   string
	sum    [32]byte
	size   int64 // in blocks
	used   time.Time
	record bool
}

// Stats counts the entries.
func (s *Disk) Stats(ctx context.Context) (Stats, error) {
	var st Stats
	err := s.each(ctx, func(f file) error {
		if f.record {
			st.Records++
		} else {
			st.Blobs++
		}
		st.Bytes += f.size
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

// Prune removes what was not used for longest until the store is within b. With a
// deadline it looks at as many of the 256 parts of the store as fit half of it,
// other ones each time, and takes them for the whole. It needs no lock: what is
// pruned under a reader is a miss.
func (s *Disk) Prune(ctx context.Context, b Bounds) (Removed, error) {
	files, part, err := s.sample(ctx)
	if err != nil {
		return Removed{}, err
	}
	cutoff := b.cutoff(files, part, time.Now())
	removed, err := s.remove(ctx, files, func(f *file) bool { return f.used.Before(cutoff) })
	if part == 1 {
		s.sweepTmp(abandoned)
	}
	return removed, err
}

// Clear removes all entries.
func (s *Disk) Clear(ctx context.Context) (Removed, error) {
	var files []file
	err := s.each(ctx, func(f file) error {
		files = append(files, f)
		return nil
	})
	if err != nil {
		return Removed{}, err
	}
	s.sweepTmp(func(fs.FileInfo) bool { return true })
	return s.remove(ctx, files, func(*file) bool { return true })
}

// sample lists entries, of all shards if there is time; part is the share of them
// that was looked at.
func (s *Disk) sample(ctx context.Context) (files []file, part float64, err error) {
	var until time.Time
	if deadline, ok := ctx.Deadline(); ok {
		until = time.Now().Add(time.Until(deadline) / 2)
	}
	first, seen := rand.IntN(shards), 0
	for ; seen < shards && ctx.Err() == nil; seen++ {
		if seen > 0 && !until.IsZero() && time.Now().After(until) {
			break
		}
		files, err = s.list(files, (first+seen)%shards)
		if err != nil {
			return nil, 0, err
		}
	}
	return files, float64(seen) / shards, context.Cause(ctx)
}

// cutoff gives the time of last use before which entries have to go.
func (b Bounds) cutoff(files []file, part float64, now time.Time) time.Time {
	var cutoff time.Time
	if b.MaxAge > 0 {
		cutoff = now.Add(-b.MaxAge)
	}
	if b.MaxSize <= 0 {
		return cutoff
	}
	slices.SortFunc(files, func(a, b file) int { return b.used.Compare(a.used) })
	total := 0.0
	for i := range files {
		// One large blob in a small sample says nothing of the rest of the store.
		typical := min(files[i].size, b.MaxSize/1000)
		total += float64(files[i].size) + float64(typical)*(1/part-1)
		if total > float64(b.MaxSize) {
			return slices.MaxFunc([]time.Time{cutoff, files[i].used.Add(1)}, time.Time.Compare)
		}
	}
	return cutoff
}

// remove removes entries, records before blobs: a record that is there has its
// blobs.
func (s *Disk) remove(ctx context.Context, files []file, drop func(*file) bool) (Removed, error) {
	var n Removed
	for _, records := range []bool{true, false} {
		for i := range files {
			f := &files[i]
			if f.record != records || !drop(f) {
				continue
			}
			if err := context.Cause(ctx); err != nil {
				return n, err
			}
			if err := os.Remove(f.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return n, err
			}
			n.Bytes += f.size
			if f.record {
				n.Records++
			} else {
				n.Blobs++
			}
		}
	}
	return n, nil
}

// sweepTmp removes temporary files.
func (s *Disk) sweepTmp(old func(fs.FileInfo) bool) {
	dir := filepath.Join(s.dir, tmpDir)
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if fi, err := e.Info(); err == nil && old(fi) {
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}

// each calls f with every entry.
func (s *Disk) each(ctx context.Context, f func(file) error) error {
	var files []file
	for i := range shards {
		var err error
		if files, err = s.list(files[:0], i); err == nil {
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

// list adds the entries of a shard to files. What else lies there is not ours.
func (s *Disk) list(files []file, shard int) ([]file, error) {
	for _, kind := range []string{recordsDir, blobsDir} {
		name := hex.EncodeToString([]byte{byte(shard)})
		dir := filepath.Join(s.dir, kind, name)
		entries, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return files, err
		}
		for _, e := range entries {
			digits := name + strings.TrimSuffix(e.Name(), compressed)
			sum, err := parseHex("entry", digits)
			if err != nil {
				continue
			}
			fi, err := e.Info()
			if err != nil || !fi.Mode().IsRegular() {
				continue
			}
			files = append(files, file{
				path: filepath.Join(dir, e.Name()), sum: sum, record: kind == recordsDir,
				size: blocks(fi.Size()), used: fi.ModTime(),
			})
		}
	}
	return files, nil
}

func blocks(size int64) int64 { return (cmp.Or(size, 1) + blockSize - 1) / blockSize * blockSize }
