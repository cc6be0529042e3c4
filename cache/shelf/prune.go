package shelf

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

	"github.com/bentobuild/bento/cache/rawfile"
)

// shards is the fan-out of records and blobs.
const shards = 256

// A temporary file that is older has been left by a process that was killed.
const abandonedAge = time.Hour

func abandoned(fi fs.FileInfo) bool { return time.Since(fi.ModTime()) > abandonedAge }

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

	path  string
	size  int64 // in blocks
	used  time.Time
	other bool // of another format
}

// Stats counts the entries; those of other formats only in Bytes.
func (s *Shelf) Stats(ctx context.Context) (Stats, error) {
	var st Stats
	err := s.each(ctx, s.formats(), func(f File) error {
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
	formats := s.formats()
	files, part, err := s.sample(ctx, formats)
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
	removed, err := s.remove(ctx, files, old)
	if err == nil {
		s.pruned(removed)
	}
	if part == 1 && err == nil {
		s.forgetWhole(cutoff)
	}
	if part == 1 {
		s.sweepTmp(abandoned)
		sweepFormats(formats[1:])
	}
	return removed, err
}

// unused tells whether a file was not used since it was listed.
func unused(f *File) bool {
	info, err := rawfile.Lstat(f.path)
	return err == nil && !info.Modified.After(f.used)
}

// Clear removes all entries.
func (s *Shelf) Clear(ctx context.Context) (Removed, error) {
	var files []File
	formats := s.formats()
	err := s.each(ctx, formats, func(f File) error {
		files = append(files, f)
		return nil
	})
	if err != nil {
		return Removed{}, err
	}
	s.sweepTmp(func(fs.FileInfo) bool { return true })
	removed, err := s.remove(ctx, files, func(*File) bool { return true })
	if err == nil {
		s.forgetWhole(time.Now())
	}
	sweepFormats(formats[1:])
	return removed, err
}

// sample lists entries, of all shards if there is time; part is the share of them
// that was looked at.
func (s *Shelf) sample(ctx context.Context, formats []string) (files []File, part float64, err error) {
	var until time.Time
	if deadline, ok := ctx.Deadline(); ok {
		until = time.Now().Add(time.Until(deadline) / 2)
	}
	there := parts(formats)
	first, seen := rand.IntN(shards), 0
	for ; seen < shards && ctx.Err() == nil; seen++ {
		if seen > 0 && !until.IsZero() && time.Now().After(until) {
			break
		}
		shard := (first + seen) % shards
		if !there[shard] {
			continue
		}
		if files, err = s.list(files, formats, shard); err != nil {
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

// remove removes entries, records before blobs: a record that is there has its
// blobs.
func (s *Shelf) remove(ctx context.Context, files []File, drop func(*File) bool) (Removed, error) {
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
			if err := rawfile.Remove(f.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
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
func (s *Shelf) sweepTmp(old func(fs.FileInfo) bool) {
	dir := filepath.Join(s.dir, tmpDir)
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if fi, err := e.Info(); err == nil && old(fi) {
			_ = rawfile.Remove(filepath.Join(dir, e.Name()))
		}
	}
}

// Each calls f with every entry of the current format, until that gives an error.
func (s *Shelf) Each(ctx context.Context, f func(File) error) error {
	return s.each(ctx, []string{s.dir}, f)
}

func (s *Shelf) each(ctx context.Context, formats []string, f func(File) error) error {
	var files []File
	for i, there := range parts(formats) {
		if !there {
			continue
		}
		var err error
		if files, err = s.list(files[:0], formats, i); err == nil {
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

// parts tells which shards there are in any of some formats. A shard that cannot be
// told is one: whoever lists it finds out.
func parts(formats []string) (there [shards]bool) {
	for _, format := range formats {
		for _, kind := range []string{recordsDir, blobsDir} {
			entries, err := os.ReadDir(filepath.Join(format, kind))
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

// list adds the entries of a shard to files. What else lies there is not ours.
func (s *Shelf) list(files []File, formats []string, shard int) ([]File, error) {
	name := hex.EncodeToString([]byte{byte(shard)})
	for _, format := range formats {
		for _, kind := range []string{recordsDir, blobsDir} {
			from := len(files)
			var err error
			if files, err = listDir(files, filepath.Join(format, kind, name), name); err != nil {
				return files, err
			}
			for i := from; i < len(files); i++ {
				files[i].Record, files[i].other = kind == recordsDir, format != s.dir
			}
		}
	}
	return files, nil
}

func listDir(files []File, dir, shard string) ([]File, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return files, err
	}
	for _, e := range entries {
		sum, ok := parse(shard + strings.TrimSuffix(e.Name(), compressed))
		if !ok {
			continue
		}
		fi, err := e.Info()
		if err != nil || !fi.Mode().IsRegular() {
			continue
		}
		files = append(files, File{path: filepath.Join(dir, e.Name()), Sum: sum, size: blocks(fi.Size()), used: fi.ModTime()})
	}
	return files, nil
}

func blocks(size int64) int64 { return (cmp.Or(size, 1) + blockSize - 1) / blockSize * blockSize }

func parse(digits string) (sum [32]byte, ok bool) {
	if len(digits) != hex.EncodedLen(len(sum)) {
		return sum, false
	}
	_, err := hex.Decode(sum[:], []byte(digits))
	return sum, err == nil
}
