package cache

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
)

// shards is the number of directories that records, and blobs, are spread over.
const shards = 256

// Stats is the content of a Disk in numbers.
type Stats struct {
	Records, Blobs int
	Bytes          int64     // disk usage in blocks of 4 KiB
	Oldest, Newest time.Time // last use, to within hours; zero for an empty store
	// Older are the directories of formats that this bento does not read and an older bento may
	// use. Bytes includes their OlderBytes.
	Older      []string
	OlderBytes int64
}

// entry is one file of a store.
type entry struct {
	sum    [32]byte
	record bool // otherwise a blob

	in       *format
	suffix   string    // of the file name
	size     int64     // in blocks
	used     time.Time // the modification time, or a later use
	modified time.Time
	other    bool // of another format
}

// Stats counts the entries of the store. Of other formats it counts only the bytes.
func (s *Disk) Stats(ctx context.Context) (Stats, error) {
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
	err = all.each(ctx, func(f entry) error {
		st.Bytes += f.size
		if older[f.in] {
			st.OlderBytes += f.size
		}
		switch {
		case f.other:
			return nil
		case f.record:
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

// order sorts records before blobs.
func order(f entry) int {
	if f.record {
		return 0
	}
	return 1
}

// each calls f with every entry of the current format until f returns an error.
func (s *Disk) each(ctx context.Context, f func(entry) error) error {
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
func (st *stock) each(ctx context.Context, f func(entry) error) error {
	var files []entry
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
func (st *stock) list(ctx context.Context, files []entry, kind, shard int) ([]entry, error) {
	for _, f := range st.all {
		from := len(files)
		var err error
		if files, err = f.list(ctx, files, kind, byte(shard)); err != nil {
			return files, err
		}
		for i := from; i < len(files); i++ {
			files[i].record, files[i].other = kind == records, f != st.current
		}
	}
	return files, nil
}

func (f *format) list(ctx context.Context, files []entry, kind int, shard byte) ([]entry, error) {
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
		one := entry{in: f, sum: sum, size: blocks(info.Size), used: info.Modified, modified: info.Modified}
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
