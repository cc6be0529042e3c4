package shelf

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"io/fs"
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

// A blob that no record needs, and that is older, has been left by such a process, or the
// record was replaced. A process stores the record seconds after the blobs, or, where it
// executes a single long task, when that ends.
const unrecordedAge = 24 * time.Hour

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

	path   string
	length int64 // in bytes
	size   int64 // in blocks
	used   time.Time
	other  bool // of another format
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

// Prune removes the results that were not used for longest, each with the blobs that no
// other needs, until the shelf is within b. Without bounds it only removes what was
// abandoned. Readers and writers need not wait: what is pruned under them is a miss.
func (s *Shelf) Prune(ctx context.Context, b Bounds, needs Needs) (Removed, error) {
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

// prune brings a shelf that is larger than b.MaxSize to target bytes, and notes its size.
func (s *Shelf) prune(ctx context.Context, b Bounds, target int64, needs Needs) (Removed, error) {
	formats := s.formats()
	inv, err := s.takeInventory(ctx, formats, needs)
	if err != nil {
		return Removed{}, err
	}
	if len(inv.files) <= smallShelf {
		target = b.MaxSize
	}
	gone, size := inv.keep(b, target)
	s.restamp(inv)
	removed, err := s.remove(ctx, inv.victims(gone))
	if err != nil {
		return removed, err
	}
	s.noteTally(tally{size: size, listed: inv.now})
	s.sweepTmp(abandoned)
	sweepFormats(formats[1:])
	return removed, nil
}

// victims lists the files of groups that go, records before blobs: a record that is there
// has its blobs. A record that was used since it was listed stays, and so do its blobs.
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

// unused tells whether a file was not used since it was listed.
func unused(f *File) bool {
	info, err := rawfile.Lstat(f.path)
	return err == nil && info.Modified.Equal(f.used)
}

// restamp lets files that were stamped by a clock that was ahead grow older from now on.
func (s *Shelf) restamp(inv *inventory) {
	for i := range inv.files {
		if inv.ahead(i) {
			f := &inv.files[i]
			f.used = inv.used(i)
			_ = rawfile.Touch(f.path, f.used)
		}
	}
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
	slices.SortStableFunc(files, func(a, b File) int { return order(a) - order(b) })
	removed, err := s.remove(ctx, files)
	sweepFormats(formats[1:])
	return removed, err
}

// order puts records before blobs.
func order(f File) int {
	if f.Record {
		return 0
	}
	return 1
}

// remove removes entries, in their order.
func (s *Shelf) remove(ctx context.Context, files []File) (Removed, error) {
	var n Removed
	for i := range files {
		f := &files[i]
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
		files = append(files, File{path: filepath.Join(dir, e.Name()), Sum: sum, length: fi.Size(), size: blocks(fi.Size()), used: fi.ModTime()})
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
