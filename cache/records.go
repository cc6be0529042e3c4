package cache

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"time"
)

// stampAge is the age of a record from which Lookup checks and touches its blobs: programs other
// than bento may remove old files.
const stampAge = 6 * time.Hour

// Lookup implements Store. It is a use of the record. All blobs of the record exist, or existed some hours
// ago.
func (s *Disk) Lookup(key Key) (*Record, error) {
	r, modified, err := s.read(key)
	if err != nil {
		return nil, err
	}
	old := isOld(modified)
	if old && !allBlobs(r, s.touchBlob) {
		_ = s.removeRecord(key)
		return nil, ErrMiss
	}
	if old {
		s.renew(key)
	} else {
		s.Use(key)
	}
	return r, nil
}

func isOld(modified time.Time) bool { return time.Since(modified).Abs() > stampAge }

// Recent reports whether a record exists, without reading it. It returns false for a record so old that
// Lookup would check its blobs. It is not a use of the record; Use is.
func (s *Disk) Recent(key Key) bool {
	modified, ok := s.recordModified(key)
	return ok && !isOld(modified)
}

// read reads a record. It removes a damaged one.
func (s *Disk) read(key Key) (r *Record, modified time.Time, err error) {
	data, modified, err := s.readFile(key)
	if err != nil {
		return nil, modified, err
	}
	if r, err = DecodeRecord(key, data, maxRecord); err != nil {
		return nil, modified, s.drop(records, key, "", err)
	}
	return r, modified, nil
}

// allBlobs reports whether has returns true for each blob of a record.
func allBlobs(r *Record, has func(Digest) bool) bool {
	whole := true
	r.blobs(func(d Digest) { whole = whole && has(d) })
	return whole
}

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
	if err := s.writeFile(key, data); err != nil {
		return err
	}
	if !allBlobs(r, s.touchBlob) {
		_ = s.removeRecord(key)
		return fmt.Errorf("record %s: a blob is %w", key, ErrMiss)
	}
	return nil
}

// readFile returns the content of a record and its modification time. It returns no data for a file that
// is not regular or too large.
func (s *Disk) readFile(key Key) (data []byte, modified time.Time, err error) {
	f, info, err := s.openFile(records, key, "")
	if err != nil {
		return nil, modified, err
	}
	defer f.Close()
	if info.Size > maxRecord+sumSize {
		return nil, modified, nil
	}
	data = make([]byte, info.Size)
	n, err := io.ReadFull(f, data)
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		err = nil // truncated meanwhile; decoding reports it
	}
	return data[:n], info.Modified, err
}

// writeFile stores a record and replaces an earlier one. It is a use of the record.
func (s *Disk) writeFile(key Key, data []byte) error {
	f, err := s.create()
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return s.publish(f, place{records, key, ""}, s.stamp(key), err)
}

// recordModified returns the modification time of a record, and reports whether the record exists.
func (s *Disk) recordModified(key Key) (modified time.Time, ok bool) {
	info, err := s.stat(records, key, "")
	return info.Modified, err == nil && info.Mode.IsRegular()
}

// removeRecord removes a record.
func (s *Disk) removeRecord(key Key) error {
	if err := s.remove(records, key, ""); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Keys returns the keys of records that start with prefix, in hexadecimal.
func (s *Disk) Keys(ctx context.Context, prefix string) ([]Key, error) {
	var keys []Key
	err := s.each(ctx, func(f entry) error {
		if key := Key(f.sum); f.record && strings.HasPrefix(key.String(), prefix) {
			keys = append(keys, key)
		}
		return nil
	})
	return keys, err
}
