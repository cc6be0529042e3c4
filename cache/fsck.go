package cache

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

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
	if c.InTheWay, err = s.inTheWay(ctx); err != nil {
		return c, err
	}
	err = s.each(ctx, func(f entry) error {
		if !f.record {
			c.count(&c.Blobs, s.checkBlob(ctx, f.sum))
		}
		return ctx.Err()
	})
	if err != nil {
		return c, err
	}
	err = s.each(ctx, func(f entry) error {
		if f.record {
			c.count(&c.Records, s.checkRecord(f.sum))
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
	if err := s.removeRecord(key); err != nil {
		return err
	}
	return errIncomplete
}

// inTheWay returns the paths of directories at the place of an entry. Such an entry can be neither stored
// nor removed. Since bento makes none, inTheWay removes only the empty ones.
func (s *Disk) inTheWay(ctx context.Context) ([]string, error) {
	var paths []string
	err := s.with(false, func(now *format) error {
		st := stock{all: []*format{now}, current: now}
		for kind := range kinds {
			for i, there := range st.parts(kind) {
				if !there {
					continue
				}
				found, err := now.inTheWay(kind, byte(i))
				if err = errors.Join(err, context.Cause(ctx)); err != nil {
					return err
				}
				paths = append(paths, found...)
			}
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return paths, err
}

// inTheWay is Disk.inTheWay for one shard.
func (f *format) inTheWay(kind int, shard byte) (paths []string, err error) {
	dir, done, err := f.shard(kind, shard, false)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer done()
	entries, err := dir.Names()
	for _, e := range entries {
		if _, ok := parse(filepath.Base(dir.Path()) + strings.TrimSuffix(e.Name(), compressed)); !ok || !e.IsDir() {
			continue
		}
		if dir.RemoveEmpty(e.Name()) != nil {
			paths = append(paths, filepath.Join(dir.Path(), e.Name()))
		}
	}
	slices.Sort(paths)
	return paths, err
}
