package cache

import (
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bentobuild/bento/internal/owndir"
)

// Disk is a Store in a directory that any number of processes share: records by key, and blobs by digest.
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
type Disk struct {
	base     string // the directory of all formats
	root     string // of the workspace
	unnamed  bool   // see Options
	bounds   Bounds
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

// DirError has the reason why a directory is not used as a store.
type DirError = owndir.RefusedError

// DamageError reports that an entry of a Disk was damaged and was removed. It is also ErrMiss.
type DamageError struct {
	Path  string
	Cause error
}

func (e *DamageError) Error() string {
	return fmt.Sprintf("removed the damaged cache entry %q: %v", e.Path, e.Cause)
}

// Is reports whether target is ErrMiss.
func (e *DamageError) Is(target error) bool { return target == ErrMiss }

func (e *DamageError) Unwrap() error { return e.Cause }

// The directories of a store.
const (
	formatDir = "v5"
	tmpDir    = "tmp"
)

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
	s := &Disk{
		base: dir, root: o.Root, unnamed: o.Unnamed, bounds: o.Bounds, warn: o.Warn, waiting: o.Waiting,
		kept: newKept(), opened: time.Now(),
	}
	runtime.AddCleanup(s, (*kept).close, s.kept)
	err := s.with(false, func(*format) error { return nil })
	var refused *DirError
	if errors.As(err, &refused) {
		return nil, err
	}
	return s, nil // the first use reports other errors
}

// now returns the time for last uses. It never runs backwards in this process, even when the clock
// does.
func (s *Disk) now() time.Time { return s.opened.Add(time.Since(s.opened)) }

// Close closes the open directories. The caller no longer uses the store. Without Close the garbage
// collector closes them.
func (s *Disk) Close() {
	s.newest.Store(nil)
	s.kept.close()
}

// Dir returns the directory of the current format.
func (s *Disk) Dir() string { return filepath.Join(s.base, formatDir) }

// path returns the place of a file, for messages.
func (s *Disk) path(kind int, sum [32]byte, suffix string) string {
	return filepath.Join(s.Dir(), nameOf(kind), hex.EncodeToString(sum[:1]), hex.EncodeToString(sum[1:])+suffix)
}

// drop removes a damaged file and returns a *DamageError.
func (s *Disk) drop(kind int, sum [32]byte, suffix string, cause error) error {
	err := &DamageError{Path: s.path(kind, sum, suffix), Cause: cause}
	_ = s.remove(kind, sum, suffix)
	s.damaged.Store(true)
	if s.warn != nil {
		s.warn(err)
	}
	return err
}
