// Package shelf keeps the files of a cache in a directory that any number of
// processes share: records by key, of whatever content, and blobs by the BLAKE3
// hash of their content.
//
// Below the directory's v4 lie blobs/ab/<62 digits>, with .z behind the name when
// compressed, and records/ab/<62 digits>. Files are written in tmp and renamed, and
// never changed, so no reader or writer needs a lock. The modification time of a record
// is that of the process that used it last; its blobs stay for as long as a record needs
// them. That of a blob says when it was last stored or asked to be, which counts until a
// record needs it. Beside them, tally holds about how many bytes there are, and used says
// which process was the last that used something. The file made-by-bento says whose all
// that is: in a directory that somebody else has made nothing is written or removed.
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
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
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
	formatDir = "v4"
	tmpDir    = "tmp"
)

// MaxRecord is the size of the largest record, in bytes.
const MaxRecord = 64<<20 + 32

// Shelf is a directory of records and blobs. It is safe for concurrent use.
type Shelf struct {
	base     string                 // where all formats are
	root     string                 // of the workspace
	newest   atomic.Pointer[format] // the current format
	kept     *kept
	warn     func(error)
	opened   time.Time    // by the clock of this process; see now
	damaged  atomic.Bool  // some damage was found
	added    atomic.Int64 // bytes that were published and are not in the tally yet, in blocks
	keeping  atomic.Bool  // a goroutine is in keepOnce
	total    atomic.Int64 // bytes that the tally told of; 0 when it was not read
	usage    usage
	encoders sync.Pool // of *zstd.Encoder
	decoders sync.Pool // of *zstd.Decoder
	samples  sync.Pool // of *[sampleSize]byte
}

// Options of a Shelf.
type Options struct {
	// Root is the root of the workspace. A shelf that lies in it may have come with it:
	// then no link on the way from the root is followed, and owners are checked. "":
	// there is none.
	Root string
	// Warn is told of every *DamageError, perhaps concurrently. Nil: nobody is told.
	Warn func(error)
}

// New returns the shelf in dir, an absolute path, which the first write makes. The error
// is a *RefusedError when dir holds something that bento has not made.
func New(dir string, o Options) (*Shelf, error) {
	s := &Shelf{base: dir, root: o.Root, warn: o.Warn, kept: newKept(), opened: time.Now()}
	runtime.AddCleanup(s, (*kept).close, s.kept)
	err := s.with(false, func(*format) error { return nil })
	var refused *RefusedError
	if errors.As(err, &refused) {
		return nil, err
	}
	return s, nil // the caller that needs it meets other errors itself
}

// now returns the time for stamps. It never runs backwards in this process, whatever is
// done to the clock.
func (s *Shelf) now() time.Time { return s.opened.Add(time.Since(s.opened)) }

// Close closes the directories that are open. The shelf is not used any more. Without it
// they are closed when the shelf is garbage.
func (s *Shelf) Close() {
	s.newest.Store(nil)
	s.kept.close()
}

// Dir returns the directory of the current format.
func (s *Shelf) Dir() string { return filepath.Join(s.base, formatDir) }

// path returns the place of a file, for messages.
func (s *Shelf) path(kind int, sum [32]byte, suffix string) string {
	return filepath.Join(s.Dir(), nameOf(kind), hex.EncodeToString(sum[:1]), hex.EncodeToString(sum[1:])+suffix)
}

// ReadRecord gives a record and when it was last used. What is no file of at most
// limit bytes gives no data.
func (s *Shelf) ReadRecord(key [32]byte, limit int64) (data []byte, used time.Time, err error) {
	f, info, err := s.openFile(records, key, "")
	if err != nil {
		return nil, used, err
	}
	defer f.Close()
	if info.Size > limit {
		return nil, used, nil
	}
	data = make([]byte, info.Size)
	n, err := io.ReadFull(f, data)
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		err = nil // cut meanwhile: the reader of the data finds out
	}
	return data[:n], info.Modified, err
}

// WriteRecord puts a record in place of what was there. It counts as used.
func (s *Shelf) WriteRecord(key [32]byte, data []byte) error {
	f, err := s.create()
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return s.publish(f, place{records, key, ""}, s.stamp(key), err)
}

// RecordUsed tells when a record was last used, and whether it is there.
func (s *Shelf) RecordUsed(key [32]byte) (used time.Time, ok bool) {
	info, err := s.stat(records, key, "")
	return info.Modified, err == nil && info.Mode.IsRegular()
}

// RemoveRecord removes a record.
func (s *Shelf) RemoveRecord(key [32]byte) error {
	if err := s.remove(records, key, ""); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// DropRecord removes a record that was found damaged, and gives the error of it.
func (s *Shelf) DropRecord(key [32]byte, cause error) error {
	return s.drop(records, key, "", cause)
}

func (s *Shelf) drop(kind int, sum [32]byte, suffix string, cause error) error {
	err := &DamageError{Path: s.path(kind, sum, suffix), Cause: cause}
	_ = s.remove(kind, sum, suffix)
	s.damaged.Store(true)
	if s.warn != nil {
		s.warn(err)
	}
	return err
}
