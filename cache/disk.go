package cache

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/bentobuild/bento/cache/diskstore"
)

// Disk is a Store in a directory that any number of processes share.
type Disk struct {
	files  *diskstore.Store
	bounds Bounds
}

// Options are the settings of a Disk.
type Options struct {
	// Root is the root of the workspace. A store inside the workspace may come from its repository, so
	// Open follows no link below Root and refuses files of untrusted owners. If Root is "", the store is
	// the user's own.
	Root string
	// Unnamed is true if no setting names the store's directory. Open then refuses a directory unless the
	// user, root or the owner of Root owns it.
	Unnamed bool
	// Warn receives a *DamageError for each damaged entry that was removed. It may be called
	// concurrently and may be nil.
	Warn func(error)
	// Waiting receives the path of a lock that another process has held for a while. It may be
	// called concurrently and may be nil.
	Waiting func(lock string)
	// Bounds limit the size and age that PruneToBounds leaves. Zero is no limit.
	Bounds Bounds
}

type (
	// DamageError reports that an entry of a Disk was damaged and was removed. It is also ErrMiss.
	DamageError = diskstore.DamageError
	// DigestError reports that the content of a blob does not match its digest.
	DigestError = diskstore.DigestError
	// Stats is the content of a Disk in numbers.
	Stats = diskstore.Stats
	// Bounds limit the size and age of a pruned Disk.
	Bounds = diskstore.Bounds
	// Removed counts what was removed from a Disk.
	Removed = diskstore.Removed
	// DirError has the reason why a directory is not used as a store.
	DirError = diskstore.RefusedError
)

// Hashed reads bytes whose digest is known, so that Add of a Disk does not compute it again.
type Hashed = diskstore.Hashed

// Hash returns a reader of data, which does not change while it is read, with its digest.
func Hash(data []byte) *Hashed { return diskstore.Hash(data) }

// stampAge is the age of a record from which Lookup checks and touches its blobs: programs other
// than bento may remove old files.
const stampAge = 6 * time.Hour

// Open returns the store in dir, an absolute path. It makes nothing: the first write makes the directory,
// and a missing directory is an empty store. It returns a *DirError if dir has files that bento has not
// made, and neither uses nor removes them.
func Open(dir string, o *Options) (*Disk, error) {
	if !filepath.IsAbs(dir) {
		return nil, fmt.Errorf("cache directory %q: not an absolute path", dir)
	}
	if o == nil {
		o = &Options{}
	}
	s, err := diskstore.New(dir, diskstore.Options{Root: o.Root, Unnamed: o.Unnamed, Warn: o.Warn, Waiting: o.Waiting})
	if err != nil {
		return nil, err
	}
	return &Disk{files: s, bounds: o.Bounds}, nil
}

// Close closes the open directories. The caller no longer uses the store. Without Close the garbage
// collector closes them.
func (s *Disk) Close() { s.files.Close() }

// Dir returns the directory of the current format.
func (s *Disk) Dir() string { return s.files.Dir() }

// Add implements Store.
func (s *Disk) Add(d Digest, r io.Reader) error { return s.files.Add(d, r) }

// Open implements Store.
func (s *Disk) Open(d Digest) (io.ReadCloser, error) {
	b, err := s.files.Open(d)
	if err != nil {
		return nil, err
	}
	return b, nil
}

// Lookup implements Store. It is a use of the record. All blobs of the record exist, or existed some hours
// ago.
func (s *Disk) Lookup(key Key) (*Record, error) {
	r, modified, err := s.read(key)
	if err != nil {
		return nil, err
	}
	old := isOld(modified)
	if old && !allBlobs(r, s.touchBlob) {
		_ = s.files.RemoveRecord(key)
		return nil, ErrMiss
	}
	if old {
		s.files.Renew(key)
	} else {
		s.files.Use(key)
	}
	return r, nil
}

func isOld(modified time.Time) bool { return time.Since(modified).Abs() > stampAge }

// Recent reports whether a record exists, without reading it. It returns false for a record so old that
// Lookup would check its blobs. It is not a use of the record; Use is.
func (s *Disk) Recent(key Key) bool {
	modified, ok := s.files.RecordModified(key)
	return ok && !isOld(modified)
}

// Use notes a use of a record.
func (s *Disk) Use(key Key) { s.files.Use(key) }

// WriteUses writes the uses of records so far, as Settle does at the end. So other processes that prune
// the store evict the used records last.
func (s *Disk) WriteUses() { s.files.WriteUses() }

// Ahead opens the directories that Record needs for key, and makes missing ones, so that Record takes less
// time. It reports no error: Record does.
func (s *Disk) Ahead(key Key) { s.files.Ahead(key) }

// HasBlob reports whether the store has a blob, without reading it.
func (s *Disk) HasBlob(d Digest) bool {
	return s.files.HasBlob(d)
}

func (s *Disk) read(key Key) (r *Record, modified time.Time, err error) {
	data, modified, err := s.files.ReadRecord(key, diskstore.MaxRecord)
	if err != nil {
		return nil, modified, err
	}
	if r, err = decodeRecord(key, data); err != nil {
		return nil, modified, s.files.DropRecord(key, err)
	}
	return r, modified, nil
}

// allBlobs reports whether has returns true for each blob of a record.
func allBlobs(r *Record, has func(Digest) bool) bool {
	whole := true
	r.blobs(func(d Digest) { whole = whole && has(d) })
	return whole
}

// touchBlob touches a blob, so that a running Prune keeps it, and reports whether it exists.
func (s *Disk) touchBlob(d Digest) bool { return s.files.TouchBlob(d) }

// Record implements Store. It returns an error when a blob of r is missing. It touches the blobs
// after it wrote the record: a Prune that has listed a blob earlier, perhaps without the record,
// then keeps the blob.
func (s *Disk) Record(key Key, r *Record) error {
	data, err := EncodeRecord(key, r)
	if err != nil {
		return err
	}
	if !allBlobs(r, s.HasBlob) {
		return fmt.Errorf("record %s: a blob is %w", key, ErrMiss)
	}
	if err := s.files.WriteRecord(key, data); err != nil {
		return err
	}
	if !allBlobs(r, s.touchBlob) {
		_ = s.files.RemoveRecord(key)
		return fmt.Errorf("record %s: a blob is %w", key, ErrMiss)
	}
	return nil
}

// Stats counts the entries of the store.
func (s *Disk) Stats(ctx context.Context) (Stats, error) { return s.files.Stats(ctx) }

// CheckWritable returns the error that storing a result would have, if that is known beforehand. It makes
// nothing.
func (s *Disk) CheckWritable() error { return s.files.CheckWritable() }

// Prune removes the least recently used results until the store is within b: each record with those
// of its blobs that no other record needs. It first removes a result that alone exceeds the bound.
// Other processes may use the store meanwhile; a pruned entry is a miss for them.
func (s *Disk) Prune(ctx context.Context, b Bounds) (Removed, error) {
	return s.files.Prune(ctx, b, needs)
}

// PruneToBounds prunes the store to the bounds of its Options. It is cheap if nothing must be removed:
// processes count the bytes that they add and share the total. It prunes a large store to somewhat below
// its bound. Call it after each result and at the end of a run.
func (s *Disk) PruneToBounds(ctx context.Context) error {
	return s.files.PruneToBounds(ctx, s.bounds, needs)
}

// Settle writes which records were used since the store was opened, unless the same records were used
// last. Call it at the end of a run. The lookups of a killed process are not written.
func (s *Disk) Settle() { s.files.Settle() }

// Crowded reports whether PruneToBounds should be called at once, because the process has added enough
// since the last call.
func (s *Disk) Crowded() bool { return s.bounds != (Bounds{}) && s.files.Crowded(s.bounds) }

// needs is a diskstore.Needs.
func needs(key [32]byte, data []byte, each func([32]byte)) error {
	r, err := decodeRecord(key, data)
	if err == nil {
		r.blobs(func(d Digest) { each(d) })
	}
	return err
}

// Clear removes all entries.
func (s *Disk) Clear(ctx context.Context) (Removed, error) { return s.files.Clear(ctx) }

// Keys returns the keys of records that start with prefix, in hexadecimal.
func (s *Disk) Keys(ctx context.Context, prefix string) ([]Key, error) {
	var keys []Key
	err := s.files.Each(ctx, func(f diskstore.File) error {
		if key := Key(f.Sum); f.Record && strings.HasPrefix(key.String(), prefix) {
			keys = append(keys, key)
		}
		return nil
	})
	return keys, err
}

// Check is the result of Fsck.
type Check struct {
	Records, Blobs int // undamaged entries
	Damaged        int // damaged entries, removed
	Incomplete     int // records with missing blobs, removed
	// InTheWay are the paths of directories at the place of an entry. bento did not make them and
	// keeps them.
	InTheWay []string

	unread int   // entries that could not be read
	why    error // error of the first of them
}

// Fsck reads every entry and removes damaged and incomplete ones; it passes each damaged one to
// Options.Warn. Other processes may use the store meanwhile. It reads all entries, then returns the
// number of unreadable ones as an error, or returns the error of ctx.
func (s *Disk) Fsck(ctx context.Context) (Check, error) {
	var c Check
	var err error
	if c.InTheWay, err = s.files.InTheWay(ctx); err != nil {
		return c, err
	}
	err = s.files.Each(ctx, func(f diskstore.File) error {
		if !f.Record {
			c.count(&c.Blobs, s.checkBlob(ctx, f.Sum))
		}
		return ctx.Err()
	})
	if err != nil {
		return c, err
	}
	err = s.files.Each(ctx, func(f diskstore.File) error {
		if f.Record {
			c.count(&c.Records, s.checkRecord(f.Sum))
		}
		return ctx.Err()
	})
	if err == nil && c.unread > 0 {
		err = fmt.Errorf("%d of the files cannot be read; the first: %w", c.unread, c.why)
	}
	return c, err
}

// count counts one entry. It ignores an entry that was removed meanwhile.
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

// readFunc is an io.Reader.
type readFunc func([]byte) (int, error)

func (f readFunc) Read(p []byte) (int, error) { return f(p) }

var errIncomplete = errors.New("a blob is missing")

func (s *Disk) checkRecord(key Key) error {
	r, _, err := s.read(key)
	if err != nil {
		return err
	}
	if allBlobs(r, s.HasBlob) {
		return nil
	}
	if err := s.files.RemoveRecord(key); err != nil {
		return err
	}
	return errIncomplete
}

// FormatDirs returns the directories below dir, a slash-separated path, in which a cache of
// this format or of an earlier one keeps everything.
func FormatDirs(dir string) []string { return diskstore.FormatDirs(dir) }
