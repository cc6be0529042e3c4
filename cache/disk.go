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
	shelf *shelf.Shelf
	refs  sync.Map // Digest → use: blobs that many records refer to
}

// use is when a blob was last used, as it was found at some time.
type use struct{ last, found time.Time }

// refsAge is how long what was found of such a blob counts.
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

// stampAge is the age at which the stamp of a record and its blobs is renewed.
const stampAge = 6 * time.Hour

// stampSlack is how much older than its blobs the stamp of a record is. Of two that stamp
// a blob at the same time, the one that has looked at the clock first may come last.
const stampSlack = time.Minute

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
	return &Disk{shelf: s}, nil
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

// Lookup implements Store. A record that it gives has all its blobs, or had them
// some hours ago.
func (s *Disk) Lookup(key Key) (*Record, error) {
	r, used, err := s.read(key)
	if err != nil {
		return nil, err
	}
	if time.Since(used) > stampAge && !s.touch(key, r) {
		_ = s.shelf.RemoveRecord(key)
		return nil, ErrMiss
	}
	return r, nil
}

// Has tells whether there is a record, without reading it. One that was not used for
// so long that Lookup would mark it as used is not spoken of: false.
func (s *Disk) Has(key Key) bool {
	used, ok := s.shelf.RecordUsed(key)
	return ok && time.Since(used) <= stampAge
}

// HasBlob tells whether there is a blob, without reading it.
func (s *Disk) HasBlob(d Digest) bool {
	_, ok := s.blobUsed(d, false)
	return ok
}

func (s *Disk) read(key Key) (r *Record, used time.Time, err error) {
	data, used, err := s.shelf.ReadRecord(key, maxRecord+32)
	if err != nil {
		return nil, used, err
	}
	if r, err = DecodeRecord(key, data); err != nil {
		return nil, used, s.shelf.DropRecord(key, err)
	}
	return r, used, nil
}

// touch marks a record and its blobs as used, the record last. It tells whether
// they are all there.
func (s *Disk) touch(key Key, r *Record) bool {
	now, whole := time.Now(), true
	r.blobs(func(d Digest) { whole = whole && s.shelf.TouchBlob(d, now) })
	if whole {
		s.shelf.TouchRecord(key, now.Add(-stampSlack))
	}
	return whole
}

// Record implements Store. That a blob of r is not there is an error.
func (s *Disk) Record(key Key, r *Record) error {
	data, err := EncodeRecord(key, r)
	if err != nil {
		return err
	}
	used, whole := s.lastUse(r)
	if !whole {
		return fmt.Errorf("record %s: a blob of it is %w", key, ErrMiss)
	}
	return s.shelf.WriteRecord(key, data, used.Add(-stampSlack))
}

// lastUse gives the time of the blob of r that was not used for longest, and
// whether all blobs are there. A record without blobs is used now.
func (s *Disk) lastUse(r *Record) (used time.Time, whole bool) {
	used, whole = time.Now(), true
	r.blobs(func(d Digest) {
		at, ok := s.blobUsed(d, d == r.Recording)
		whole = whole && ok
		if ok && at.Before(used) {
			used = at
		}
	})
	return used, whole
}

// blobUsed tells when a blob was last used, and whether it is there. What many records
// refer to is not looked at for each.
func (s *Disk) blobUsed(d Digest, shared bool) (time.Time, bool) {
	if !shared {
		return s.shelf.BlobUsed(d)
	}
	now := time.Now()
	if u, ok := s.refs.Load(d); ok && now.Sub(u.(use).found) < refsAge {
		return u.(use).last, true
	}
	at, ok := s.shelf.BlobUsed(d)
	if ok {
		s.refs.Store(d, use{at, now})
	}
	return at, ok
}

// Stats counts what the store holds.
func (s *Disk) Stats(ctx context.Context) (Stats, error) { return s.shelf.Stats(ctx) }

// Prune removes what was not used for longest until the store is within b. With a
// deadline it does a part of that, as much as fits. Others may use the store
// meanwhile: what is pruned under them is a miss.
func (s *Disk) Prune(ctx context.Context, b Bounds) (Removed, error) { return s.shelf.Prune(ctx, b) }

// Clear removes all entries.
func (s *Disk) Clear(ctx context.Context) (Removed, error) { return s.shelf.Clear(ctx) }

// Due tells whether Prune may find something to do: when nobody has looked for a
// while, or this Disk has added much.
func (s *Disk) Due(b Bounds) bool { return s.shelf.Due(b) }

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
	if _, whole := s.lastUse(r); whole {
		return nil
	}
	if err := s.shelf.RemoveRecord(key); err != nil {
		return err
	}
	return errIncomplete
}
