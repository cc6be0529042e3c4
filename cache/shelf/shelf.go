// Package shelf keeps the files of a cache in a directory that any number of
// processes share: records by key, of whatever content, and blobs by the BLAKE3
// hash of their content.
//
// Below the directory's v4 lie blobs/ab/<62 digits>, with .z behind the name when
// compressed, and records/ab/<62 digits>. Files are written in tmp and renamed, and
// never changed, so no reader or writer needs a lock. The modification time of a record
// says when it was last used; its blobs stay for as long as a record needs them. That of
// a blob says when it was last stored or asked to be, which counts until a record needs
// it. Beside them, tally holds about how many bytes there are.
//
// Another format of anything here, or of what records hold, has a directory of its
// own beside it: an older or newer bento neither reads nor spoils it, and what nobody
// uses any more goes with the rest of what is old.
package shelf

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bentobuild/bento/cache/rawfile"
)

// ErrAbsent says that something is not on the shelf.
var ErrAbsent = errors.New("not in the cache")

// DamageError says that a file was found damaged and was removed. It is also
// ErrAbsent.
type DamageError struct {
	Path  string
	Cause error
}

func (e *DamageError) Error() string {
	return fmt.Sprintf("cache entry %q was damaged, dropped it: %v", e.Path, e.Cause)
}

// Is makes it an ErrAbsent.
func (e *DamageError) Is(target error) bool { return target == ErrAbsent }

func (e *DamageError) Unwrap() error { return e.Cause }

// The directories of a shelf.
const (
	formatDir  = "v4"
	recordsDir = "records"
	blobsDir   = "blobs"
	tmpDir     = "tmp"
)

// MaxRecord is the size of the largest record, in bytes.
const MaxRecord = 64<<20 + 32

// Shelf is a directory of records and blobs. It is safe for concurrent use.
type Shelf struct {
	base     string // where all formats are
	dir      string
	warn     func(error)
	opened   time.Time    // by the clock of this process; see now
	damaged  atomic.Bool  // some damage was found
	added    atomic.Int64 // bytes that were published and are not in the tally yet, in blocks
	keeping  atomic.Bool  // a goroutine is in keepOnce
	total    atomic.Int64 // bytes that the tally told of; 0 when it was not read
	encoders sync.Pool    // of *zstd.Encoder
	decoders sync.Pool    // of *zstd.Decoder
	samples  sync.Pool    // of *[sampleSize]byte
}

// New gives the shelf in dir, an absolute path, which the first write makes. warn
// is told of every *DamageError, perhaps concurrently; it may be nil.
func New(dir string, warn func(error)) *Shelf {
	return &Shelf{base: dir, dir: filepath.Join(dir, formatDir), warn: warn, opened: time.Now()}
}

// now returns the time for stamps. It never runs backwards in this process, whatever is
// done to the clock.
func (s *Shelf) now() time.Time { return s.opened.Add(time.Since(s.opened)) }

// Dir gives the directory of the current format.
func (s *Shelf) Dir() string { return s.dir }

// path gives the place of a file, without the suffix of a compressed blob.
func (s *Shelf) path(kind string, sum [32]byte) string {
	b := make([]byte, 0, len(s.dir)+len(kind)+70)
	b = append(append(b, s.dir...), filepath.Separator)
	b = append(append(b, kind...), filepath.Separator)
	b = append(hex.AppendEncode(b, sum[:1]), filepath.Separator)
	return string(hex.AppendEncode(b, sum[1:]))
}

// ReadRecord gives a record and when it was last used. What is no file of at most
// limit bytes gives no data.
func (s *Shelf) ReadRecord(key [32]byte, limit int64) (data []byte, used time.Time, err error) {
	f, err := rawfile.Open(s.path(recordsDir, key))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, used, ErrAbsent
	}
	if err != nil {
		return nil, used, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode.IsRegular() || info.Size > limit {
		return nil, used, err
	}
	data = make([]byte, info.Size)
	n, err := io.ReadFull(f, data)
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		err = nil // cut meanwhile: the reader of the data finds out
	}
	return data[:n], info.Modified, err
}

// WriteRecord puts a record in place of what was there. It counts as used now.
func (s *Shelf) WriteRecord(key [32]byte, data []byte) error {
	f, err := s.create()
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return s.publish(f, s.path(recordsDir, key), err)
}

// RecordUsed tells when a record was last used, and whether it is there.
func (s *Shelf) RecordUsed(key [32]byte) (used time.Time, ok bool) {
	info, err := rawfile.Lstat(s.path(recordsDir, key))
	return info.Modified, err == nil && info.Mode.IsRegular()
}

// TouchRecord stamps a record as used. In a directory that only others may write
// nothing is stamped.
func (s *Shelf) TouchRecord(key [32]byte) {
	_ = rawfile.Touch(s.path(recordsDir, key), s.now())
}

// RemoveRecord removes a record.
func (s *Shelf) RemoveRecord(key [32]byte) error {
	if err := rawfile.Remove(s.path(recordsDir, key)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// DropRecord removes a record that was found damaged, and gives the error of it.
func (s *Shelf) DropRecord(key [32]byte, cause error) error {
	return s.drop(s.path(recordsDir, key), cause)
}

func (s *Shelf) drop(path string, cause error) error {
	err := &DamageError{Path: path, Cause: cause}
	_ = rawfile.Remove(path)
	s.damaged.Store(true)
	if s.warn != nil {
		s.warn(err)
	}
	return err
}

// create makes a file in tmp.
func (s *Shelf) create() (*rawfile.File, error) {
	dir := filepath.Join(s.dir, tmpDir)
	f, err := createIn(dir)
	if !errors.Is(err, fs.ErrNotExist) {
		return f, err
	}
	if err := rawfile.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	return createIn(dir)
}

func createIn(dir string) (*rawfile.File, error) {
	for {
		name := filepath.Join(dir, strconv.FormatUint(rand.Uint64(), 36))
		f, err := rawfile.Create(name, 0o444)
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
}

// publish gives a written file its name, as used now, unless err says that it was not
// written well; then, or when that fails, it is removed.
func (s *Shelf) publish(f *rawfile.File, path string, err error) error {
	if info, e := f.Stat(); e == nil {
		s.added.Add(blocks(info.Size)) // before it counts on the disk, should we be killed
	}
	if e := f.Touch(s.now()); err == nil {
		err = e
	}
	return s.place(f, path, err)
}

// place is publish for a file that is no entry.
func (s *Shelf) place(f *rawfile.File, path string, err error) error {
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = rawfile.Rename(f.Name(), path)
	}
	if errors.Is(err, fs.ErrNotExist) {
		if err = rawfile.MkdirAll(filepath.Dir(path), 0o777); err == nil {
			err = rawfile.Rename(f.Name(), path)
		}
	}
	if err != nil {
		_ = rawfile.Remove(f.Name())
	}
	return err
}
