package cache

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"time"
)

// Check is what Fsck found.
type Check struct {
	Records, Blobs int // that are good
	Damaged        int // entries that were damaged, and dropped
	Incomplete     int // records whose blobs are gone, and that were dropped
}

// Fsck reads every entry and drops what is damaged or incomplete; each damaged one
// is told to Options.Warn. Others may use the store meanwhile.
func (s *Disk) Fsck(ctx context.Context) (Check, error) {
	var c Check
	err := s.each(ctx, func(f file) error {
		if f.record {
			return nil
		}
		return c.count(&c.Blobs, s.checkBlob(f.sum))
	})
	if err != nil {
		return c, err
	}
	return c, s.each(ctx, func(f file) error {
		if !f.record {
			return nil
		}
		return c.count(&c.Records, s.checkRecord(f.sum))
	})
}

// count counts one entry. What is gone meanwhile does not count.
func (c *Check) count(good *int, err error) error {
	var damage *DamageError
	switch {
	case err == nil:
		*good++
	case errors.As(err, &damage):
		c.Damaged++
	case errors.Is(err, errIncomplete):
		c.Incomplete++
	case !errors.Is(err, ErrMiss):
		return err
	}
	return nil
}

func (s *Disk) checkBlob(d Digest) error {
	r, err := s.Open(d)
	if err != nil {
		return err
	}
	defer r.Close()
	_, err = io.Copy(io.Discard, r)
	return err
}

var errIncomplete = errors.New("a blob is gone")

func (s *Disk) checkRecord(key Key) error {
	path := s.path(recordsDir, key)
	found, err := s.readRecord(key, path)
	if err != nil {
		return err
	}
	if _, whole := s.lastUse(found.record); whole {
		return nil
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return errIncomplete
}

// lastUse gives the time of the blob of r that was not used for longest, and
// whether all blobs are there. A record without blobs is used now.
func (s *Disk) lastUse(r *Record) (used time.Time, whole bool) {
	used, whole = time.Now(), true
	r.blobs(func(d Digest) {
		fi, ok := s.statBlob(s.path(blobsDir, d))
		if !ok {
			whole = false
		} else if fi.ModTime().Before(used) {
			used = fi.ModTime()
		}
	})
	return used, whole
}
