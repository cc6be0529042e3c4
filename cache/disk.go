package cache

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/bentobuild/bento/cache/shelf"
)

// Disk is a Store in a directory, shared by any number of processes.
type Disk struct {
	shelf  *shelf.Shelf
	bounds Bounds
	refs   sync.Map // Digest → time.Time: blobs that many records refer to, and when each was touched
}

// refsAge is how long such a blob is not touched again.
const refsAge = time.Minute

// Options of a Disk.
type Options struct {
	// Root is the root of the workspace. A store that lies in it may have come with it:
	// then no link on the way from the root is followed, and what belongs to somebody who
	// is not trusted there is refused. "": the store is nobody's but the user's.
	Root string
	// Warn is told of entries that were damaged, and so dropped: a *DamageError. It
	// may be called concurrently. Nil: nobody is told.
	Warn func(error)
	// Bounds are what Keep keeps the store within. Zero: it may grow.
	Bounds Bounds
}

type (
	// DamageError says that an entry of a Disk was damaged and was dropped. It is also
	// ErrMiss.
	DamageError = shelf.DamageError
	// DigestError says that a blob is not what its digest says.
	DigestError = shelf.DigestError
	// Stats says what a Disk holds.
	Stats = shelf.Stats
	// Bounds are what Prune keeps a Disk within.
	Bounds = shelf.Bounds
	// Removed says what was removed from a Disk.
	Removed = shelf.Removed
	// DirError says that a directory is not used as a store.
	DirError = shelf.RefusedError
)

// stampAge is the age at which a record is not taken for whole without a look at its
// blobs, which it stamps: others than bento may remove old files.
const stampAge = 6 * time.Hour

// Open returns the store in dir, an absolute path. Nothing is made: the directory comes
// with the first write, and one that is missing is empty. The error is a *DirError
// when there is something that bento has not made: nothing of it is used or removed.
func Open(dir string, o *Options) (*Disk, error) {
	if !filepath.IsAbs(dir) {
		return nil, fmt.Errorf("cache directory %q: not an absolute path", dir)
	}
	if o == nil {
		o = &Options{}
	}
	s, err := shelf.New(dir, shelf.Options{Root: o.Root, Warn: o.Warn})
	if err != nil {
		return nil, err
	}
	return &Disk{shelf: s, bounds: o.Bounds}, nil
}

// Close closes what is open of the store, which is not used any more. Without it that is
// done when the store is garbage.
func (s *Disk) Close() { s.shelf.Close() }

// Dir gives the directory of the current format.
func (s *Disk) Dir() string { return s.shelf.Dir() }

// Add implements Store.
func (s *Disk) Add(d Digest, r io.Reader) error { return s.shelf.Add(d, r) }

// Open implements Store.
func (s *Disk) Open(d Digest) (io.ReadCloser, error) {
	b, err := s.shelf.Open(d)
	if err != nil {
		return nil, err
	}
	return b, nil
}

// Lookup implements Store. It counts as use. A record that it gives has all its blobs, or
// had them some hours ago.
func (s *Disk) Lookup(key Key) (*Record, error) {
	r, used, err := s.read(key)
	if err != nil {
		return nil, err
	}
	old := time.Since(used).Abs() > stampAge
	if old && !touchBlobs(r, s.touchBlob) {
		_ = s.shelf.RemoveRecord(key)
		return nil, ErrMiss
	}
	if old {
		s.shelf.Renew(key)
	} else {
		s.shelf.Use(key, used)
	}
	return r, nil
}

// Has tells whether there is a record, without reading it. It counts as use. One that was
// not used for so long that Lookup would look at its blobs is not spoken of: false.
func (s *Disk) Has(key Key) bool {
	used, ok := s.shelf.RecordUsed(key)
	if !ok || time.Since(used).Abs() > stampAge {
		return false
	}
	s.shelf.Use(key, used)
	return true
}

// HasBlob tells whether there is a blob, without reading it.
func (s *Disk) HasBlob(d Digest) bool {
	return s.shelf.HasBlob(d)
}

func (s *Disk) read(key Key) (r *Record, used time.Time, err error) {
	data, used, err := s.shelf.ReadRecord(key, shelf.MaxRecord)
	if err != nil {
		return nil, used, err
	}
	if r, err = DecodeRecord(key, data); err != nil {
		return nil, used, s.shelf.DropRecord(key, err)
	}
	return r, used, nil
}

// touchBlobs stamps the blobs of a record and reports whether they are all there.
func touchBlobs(r *Record, touch func(Digest) bool) bool {
	whole := true
	r.blobs(func(d Digest) { whole = whole && touch(d) })
	return whole
}

// touchOnce stamps a blob that many records refer to, but not for each of them.
func (s *Disk) touchOnce(d Digest) bool {
	now := time.Now()
	if at, ok := s.refs.Load(d); ok && now.Sub(at.(time.Time)) < refsAge {
		return true
	}
	ok := s.touchBlob(d)
	if ok {
		s.refs.Store(d, now)
	}
	return ok
}

// touchBlob stamps a blob, so that a Prune which has begun leaves it, and reports whether
// it is there.
func (s *Disk) touchBlob(d Digest) bool { return s.shelf.TouchBlob(d) }

// Record implements Store. That a blob of r is not there is an error.
func (s *Disk) Record(key Key, r *Record) error {
	data, err := EncodeRecord(key, r)
	if err != nil {
		return err
	}
	whole := touchBlobs(r, func(d Digest) bool {
		if d == r.Recording {
			return s.touchOnce(d)
		}
		return s.touchBlob(d)
	})
	if !whole {
		return fmt.Errorf("record %s: a blob of it is %w", key, ErrMiss)
	}
	return s.shelf.WriteRecord(key, data)
}

// Stats counts what the store holds.
func (s *Disk) Stats(ctx context.Context) (Stats, error) { return s.shelf.Stats(ctx) }

// Prune removes the results that were not used for longest until the store is within b:
// each record goes with those of its blobs that no other needs. A result that is larger
// than the bound by itself goes first. Others may use the store meanwhile: what is pruned
// under them is a miss.
func (s *Disk) Prune(ctx context.Context, b Bounds) (Removed, error) {
	return s.shelf.Prune(ctx, b, needs)
}

// Keep keeps the store within the bounds of its Options, as Prune does. It is cheap where
// nothing has to go: the size is counted as blobs are added, and told to other processes.
// A large store that has outgrown its bound is brought somewhat below it. The caller
// keeps it after each result, and at the end of a run.
func (s *Disk) Keep(ctx context.Context) error { return s.shelf.Keep(ctx, s.bounds, needs) }

// Settle writes down what was used since the store was opened, unless the store says so
// already: after the same use as the time before nothing is written. The caller calls it
// at the end of a run; what a process that is killed has only looked up does not count as
// used.
func (s *Disk) Settle() { s.shelf.Settle() }

// Crowded reports whether what was added since the last Keep is a reason to call it at
// once.
func (s *Disk) Crowded() bool { return s.bounds != (Bounds{}) && s.shelf.Crowded(s.bounds) }

// needs is a shelf.Needs.
func needs(key [32]byte, data []byte, each func([32]byte)) error {
	r, err := DecodeRecord(key, data)
	if err == nil {
		r.blobs(func(d Digest) { each(d) })
	}
	return err
}

// Clear removes all entries.
func (s *Disk) Clear(ctx context.Context) (Removed, error) { return s.shelf.Clear(ctx) }

// Keys gives the keys of records that start with prefix, in hexadecimal.
func (s *Disk) Keys(ctx context.Context, prefix string) ([]Key, error) {
	var keys []Key
	err := s.shelf.Each(ctx, func(f shelf.File) error {
		if key := Key(f.Sum); f.Record && strings.HasPrefix(key.String(), prefix) {
			keys = append(keys, key)
		}
		return nil
	})
	return keys, err
}

// Check is what Fsck found.
type Check struct {
	Records, Blobs int // that are good
	Damaged        int // entries that were damaged, and dropped
	Incomplete     int // records whose blobs are gone, and that were dropped

	unread int   // entries that could not be read
	why    error // of the first
}

// Fsck reads every entry and drops what is damaged or incomplete; each damaged one
// is told to Options.Warn. Others may use the store meanwhile. The error is that of ctx,
// or says how many entries could not be read, after all others were.
func (s *Disk) Fsck(ctx context.Context) (Check, error) {
	var c Check
	err := s.shelf.Each(ctx, func(f shelf.File) error {
		if !f.Record {
			c.count(&c.Blobs, s.checkBlob(ctx, f.Sum))
		}
		return ctx.Err()
	})
	if err != nil {
		return c, err
	}
	err = s.shelf.Each(ctx, func(f shelf.File) error {
		if f.Record {
			c.count(&c.Records, s.checkRecord(f.Sum))
		}
		return nil
	})
	if err == nil && c.unread > 0 {
		err = fmt.Errorf("%d of the files cannot be read; the first: %w", c.unread, c.why)
	}
	return c, err
}

// count counts one entry. What is gone meanwhile does not count.
func (c *Check) count(good *int, err error) {
	var damage *DamageError
	switch {
	case err == nil:
		*good++
	case errors.As(err, &damage):
		c.Damaged++
	case errors.Is(err, errIncomplete):
		c.Incomplete++
	case !errors.Is(err, ErrMiss):
		c.unread++
		c.why = cmp.Or(c.why, err)
	}
}

// checkBlob reads a blob to its end, or until ctx is done.
func (s *Disk) checkBlob(ctx context.Context, d Digest) error {
	r, err := s.Open(d)
	if err != nil {
		return err
	}
	defer r.Close()
	_, err = io.Copy(io.Discard, readFunc(func(p []byte) (int, error) {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		return r.Read(p)
	}))
	return err
}

// readFunc is a reader.
type readFunc func([]byte) (int, error)

func (f readFunc) Read(p []byte) (int, error) { return f(p) }

var errIncomplete = errors.New("a blob is gone")

func (s *Disk) checkRecord(key Key) error {
	r, _, err := s.read(key)
	if err != nil {
		return err
	}
	whole := true
	r.blobs(func(d Digest) { whole = whole && s.shelf.HasBlob(d) })
	if whole {
		return nil
	}
	if err := s.shelf.RemoveRecord(key); err != nil {
		return err
	}
	return errIncomplete
}
