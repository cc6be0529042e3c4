// Package diskstore keeps the files of a cache in a directory that any number of processes share:
// records by key, with any content, and blobs by the BLAKE3 hash of their content.
//
// The subdirectory v5 contains blobs/ab/<62 digits>, with the suffix .z if compressed, and records/ab/<62
// digits>. Files are written in tmp, renamed, and never changed, so no reader or writer needs a lock. The
// last use of a record is its modification time or, if that is later, its time in the file used. Its blobs
// stay as long as a record needs them. The modification time of a blob is the last time that it was stored
// or touched. It matters only until a record needs the blob. The file tally contains the approximate total
// size. The file made-by-bento marks the directory as made by bento: without it nothing is written or
// removed.
//
// Another format of these files, or of the content of records, has a separate directory beside v5. An
// older or newer bento neither reads nor damages v5, and unused formats are pruned with other old entries.
package diskstore

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

// ErrAbsent reports that the store does not have an entry.
var ErrAbsent = errors.New("not in the cache")

// DamageError reports that a file was damaged and was removed. It is also ErrAbsent.
type DamageError struct {
	Path  string
	Cause error
}

func (e *DamageError) Error() string {
	return fmt.Sprintf("removed the damaged cache entry %q: %v", e.Path, e.Cause)
}

// Is reports whether target is ErrAbsent.
func (e *DamageError) Is(target error) bool { return target == ErrAbsent }

func (e *DamageError) Unwrap() error { return e.Cause }

// The directories of a store.
const (
	formatDir = "v5"
	tmpDir    = "tmp"
)

// MaxRecord is the size of the largest record, in bytes.
const MaxRecord = 64<<20 + 32

// Store is a directory of records and blobs. It is safe for concurrent use.
type Store struct {
	base     string                 // the directory of all formats
	root     string                 // of the workspace
	unnamed  bool                   // see Options
	newest   atomic.Pointer[format] // the current format
	absent   atomic.Bool            // the directory of the format was missing when it was last opened
	kept     *kept
	warn     func(error)
	waiting  func(lock string)
	opened   time.Time    // by the clock of this process; see now
	damaged  atomic.Bool  // a damaged entry was found
	added    atomic.Int64 // published bytes that the tally does not include yet, in blocks
	keeping  atomic.Bool  // a goroutine runs keepOnce
	total    atomic.Int64 // bytes by the tally; 0 when it was not read
	usage    usage
	encoders sync.Pool // of *zstd.Encoder
	decoders sync.Pool // of *zstd.Decoder
	samples  sync.Pool // of *[sampleSize]byte
	blocks   sync.Pool // of *[zHeader + maxBlock]byte
}

// Options are the settings of a Store.
type Options struct {
	// Root is the root of the workspace. A store inside the workspace may come from its repository, so New
	// follows no link below Root and checks owners. "" means no workspace.
	Root string
	// Unnamed is true if no setting names the directory. The user, root or the owner of the workspace's
	// root directory must own it then.
	Unnamed bool
	// Warn receives every *DamageError. It may be called concurrently and may be nil.
	Warn func(error)
	// Waiting receives the path of a lock that another process has held for a while. It may be
	// called concurrently and may be nil.
	Waiting func(lock string)
}

// New returns the store in dir, an absolute path, which the first write makes. It returns a *RefusedError
// if dir has files that bento has not made.
func New(dir string, o Options) (*Store, error) {
	s := &Store{base: dir, root: o.Root, unnamed: o.Unnamed, warn: o.Warn, waiting: o.Waiting, kept: newKept(), opened: time.Now()}
	runtime.AddCleanup(s, (*kept).close, s.kept)
	err := s.with(false, func(*format) error { return nil })
	var refused *RefusedError
	if errors.As(err, &refused) {
		return nil, err
	}
	return s, nil // the first use reports other errors
}

// now returns the time for last uses. It never runs backwards in this process, even when the clock
// does.
func (s *Store) now() time.Time { return s.opened.Add(time.Since(s.opened)) }

// Close closes the open directories. The caller no longer uses the store. Without Close the garbage
// collector closes them.
func (s *Store) Close() {
	s.newest.Store(nil)
	s.kept.close()
}

// Dir returns the directory of the current format.
func (s *Store) Dir() string { return filepath.Join(s.base, formatDir) }

// path returns the place of a file, for messages.
func (s *Store) path(kind int, sum [32]byte, suffix string) string {
	return filepath.Join(s.Dir(), nameOf(kind), hex.EncodeToString(sum[:1]), hex.EncodeToString(sum[1:])+suffix)
}

// ReadRecord returns the content of a record and its modification time. It returns no data for a file that
// is not regular or larger than limit bytes.
func (s *Store) ReadRecord(key [32]byte, limit int64) (data []byte, modified time.Time, err error) {
	f, info, err := s.openFile(records, key, "")
	if err != nil {
		return nil, modified, err
	}
	defer f.Close()
	if info.Size > limit {
		return nil, modified, nil
	}
	data = make([]byte, info.Size)
	n, err := io.ReadFull(f, data)
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		err = nil // truncated meanwhile; decoding reports it
	}
	return data[:n], info.Modified, err
}

// WriteRecord stores a record and replaces an earlier one. It is a use of the record.
func (s *Store) WriteRecord(key [32]byte, data []byte) error {
	f, err := s.create()
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return s.publish(f, place{records, key, ""}, s.stamp(key), err)
}

// RecordModified returns the modification time of a record, and reports whether the record exists.
func (s *Store) RecordModified(key [32]byte) (modified time.Time, ok bool) {
	info, err := s.stat(records, key, "")
	return info.Modified, err == nil && info.Mode.IsRegular()
}

// RemoveRecord removes a record.
func (s *Store) RemoveRecord(key [32]byte) error {
	if err := s.remove(records, key, ""); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// DropRecord removes a damaged record and returns a *DamageError.
func (s *Store) DropRecord(key [32]byte, cause error) error {
	return s.drop(records, key, "", cause)
}

func (s *Store) drop(kind int, sum [32]byte, suffix string, cause error) error {
	err := &DamageError{Path: s.path(kind, sum, suffix), Cause: cause}
	_ = s.remove(kind, sum, suffix)
	s.damaged.Store(true)
	if s.warn != nil {
		s.warn(err)
	}
	return err
}
