package cache

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"
)

// Disk is a Store in a directory, shared by any number of processes.
//
// Below the directory's v1 lie blobs/ab/<62 digits>, with .z behind the name when
// compressed, and records/ab/<62 digits>. Files are written in tmp and renamed, and
// never changed. The modification time of a file says when it was last used, to
// within stampAge. A blob is never stamped older than a record that needs it, so that
// what is younger than some moment is whole.
type Disk struct {
	dir      string
	warn     func(error)
	encoders sync.Pool // of *zstd.Encoder
	decoders sync.Pool // of *zstd.Decoder
	samples  sync.Pool // of *[sampleSize]byte
}

// Options of a Disk.
type Options struct {
	// Warn is told of entries that were damaged, and so dropped: a *DamageError. It
	// may be called concurrently. Nil: nobody is told.
	Warn func(error)
}

// DamageError says that an entry was found damaged and was dropped. It is also
// ErrMiss.
type DamageError struct {
	Path  string // of the file
	Cause error
}

func (e *DamageError) Error() string {
	return fmt.Sprintf("cache entry %q was damaged, dropped it: %v", e.Path, e.Cause)
}

// Is makes it an ErrMiss.
func (e *DamageError) Is(target error) bool { return target == ErrMiss }

func (e *DamageError) Unwrap() error { return e.Cause }

const (
	formatDir  = "v1"
	recordsDir = "records"
	blobsDir   = "blobs"
	tmpDir     = "tmp"
)

// Stamps are renewed when they are older.
const stampAge = 6 * time.Hour

// Open gives the store in dir, an absolute path. Nothing is read or made: the
// directory comes with the first write, and one that is missing is empty.
func Open(dir string, o *Options) (*Disk, error) {
	if !filepath.IsAbs(dir) {
		return nil, fmt.Errorf("cache directory %q: not an absolute path", dir)
	}
	d := &Disk{dir: filepath.Join(dir, formatDir)}
	if o != nil {
		d.warn = o.Warn
	}
	return d, nil
}

// Dir gives the directory of the current format.
func (s *Disk) Dir() string { return s.dir }

// path gives the file of an entry, without the suffix of a compressed blob.
func (s *Disk) path(kind string, sum [32]byte) string {
	b := make([]byte, 0, len(s.dir)+len(kind)+70)
	b = append(append(b, s.dir...), filepath.Separator)
	b = append(append(b, kind...), filepath.Separator)
	b = append(hex.AppendEncode(b, sum[:1]), filepath.Separator)
	return string(hex.AppendEncode(b, sum[1:]))
}

// Lookup implements Store.
func (s *Disk) Lookup(key Key) (*Record, error) {
	path := s.path(recordsDir, key)
	found, err := s.readRecord(key, path)
	if err != nil {
		return nil, err
	}
	if time.Since(found.used) > stampAge && !s.stampAll(path, found.record) {
		_ = os.Remove(path)
		return nil, ErrMiss
	}
	return found.record, nil
}

// usedRecord is a record and when it was last used.
type usedRecord struct {
	record *Record
	used   time.Time
}

func (s *Disk) readRecord(key Key, path string) (usedRecord, error) {
	data, used, err := readEntry(path, maxRecord+32)
	if errors.Is(err, fs.ErrNotExist) {
		err = ErrMiss
	}
	if err != nil {
		return usedRecord{}, err
	}
	r, err := DecodeRecord(key, data)
	if err != nil {
		err = s.drop(path, err)
	}
	return usedRecord{r, used}, err
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
	f, err := s.create()
	if err != nil {
		return err
	}
	if _, err = f.Write(data); err == nil {
		err = os.Chtimes(f.Name(), used, used)
	}
	return s.publish(f, s.path(recordsDir, key), err)
}

// stampAll marks a record and its blobs as used, the record last. It tells whether
// they are all there.
func (s *Disk) stampAll(path string, r *Record) bool {
	now, whole := time.Now(), true
	r.blobs(func(d Digest) {
		whole = whole && s.stamp(s.path(blobsDir, d), now)
	})
	if whole {
		_ = os.Chtimes(path, now, now)
	}
	return whole
}

// stamp marks a blob as used and tells whether it is there. In a store that only
// others may write nothing is marked.
func (s *Disk) stamp(path string, now time.Time) bool {
	err := os.Chtimes(path, now, now)
	if errors.Is(err, fs.ErrNotExist) {
		err = os.Chtimes(path+compressed, now, now)
	}
	return !errors.Is(err, fs.ErrNotExist)
}

// drop removes a damaged entry and gives the error of it.
func (s *Disk) drop(path string, cause error) error {
	err := &DamageError{Path: path, Cause: cause}
	_ = os.Remove(path)
	if s.warn != nil {
		s.warn(err)
	}
	return err
}

// readEntry reads a file of at most limit bytes, and when it was last used.
func readEntry(path string, limit int64) (data []byte, used time.Time, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, used, err
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return nil, used, err
	}
	if !fi.Mode().IsRegular() || fi.Size() > limit {
		return nil, used, nil // no record: damage
	}
	data = make([]byte, fi.Size())
	n, err := io.ReadFull(f, data)
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		err = nil // cut meanwhile: damage too
	}
	return data[:n], fi.ModTime(), err
}

// create makes a file in tmp.
func (s *Disk) create() (*os.File, error) {
	dir := filepath.Join(s.dir, tmpDir)
	f, err := createIn(dir)
	if !errors.Is(err, fs.ErrNotExist) {
		return f, err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	return createIn(dir)
}

func createIn(dir string) (*os.File, error) {
	for {
		name := filepath.Join(dir, strconv.FormatUint(rand.Uint64(), 36))
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o444)
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
}

// publish gives a written file its name, unless err says that it was not written
// well; then, or when that fails, it is removed.
func (s *Disk) publish(f *os.File, path string, err error) error {
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if errors.Is(err, fs.ErrNotExist) {
		if err = os.MkdirAll(filepath.Dir(path), 0o777); err == nil {
			err = os.Rename(f.Name(), path)
		}
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}
