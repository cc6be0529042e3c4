// Package cache keeps the results of tasks: a content-addressed store of blobs,
// and a record for each key that says which blobs a task has made, and where.
//
// A Key is the hash of a description, made by whoever runs tasks; a Digest is the
// BLAKE3 hash of the bytes of a blob. A store never fails a build: an entry that is
// damaged or gone is a miss.
package cache

import (
	"io"
	"io/fs"
	"time"

	"github.com/bentobuild/bento/cache/shelf"
)

// ErrMiss says that a store does not have what was asked for.
var ErrMiss = shelf.ErrAbsent

// Store keeps records and blobs. Its methods may be called concurrently. Errors
// other than ErrMiss say that the store cannot be used; the build goes on without.
type Store interface {
	// Lookup gives the record of key, or ErrMiss. The record is the caller's.
	Lookup(key Key) (*Record, error)
	// Record puts r under key, in place of what was there. Its blobs come first, with
	// Add: a reader that finds the record finds them.
	Record(key Key, r *Record) error
	// Open gives the blob, or ErrMiss. A reader that reaches io.EOF has given exactly
	// the bytes of that digest: of a damaged blob the last Read fails, with ErrMiss.
	Open(d Digest) (io.ReadCloser, error)
	// Add stores the blob that r holds. It is an error, and nothing is stored, when
	// its digest is not d. A blob that is there already may be left unread.
	Add(d Digest, r io.Reader) error
}

// Record is the result of a task.
type Record struct {
	Outputs     []Output // sorted by path, each path once
	Exit        int
	Log         Digest            // of the blob with what it printed; zero when nothing
	LogSize     int64             // bytes it printed
	Recording   Digest            // of a blob that tells how keys were made; zero when there is none
	Ingredients Digest            // of what made this key, a part of that blob
	Small       map[Digest][]byte // blobs that stand in the record itself; see With
	Created     time.Time
	Duration    time.Duration
	Host        string // where it was made
}

// Kind tells what an Output is.
type Kind uint8

// The kinds. The values stand in records.
const (
	File Kind = 1
	Link Kind = 2
	Dir  Kind = 3 // recorded where nothing else tells of the directory
)

// Output is one thing that a task has made.
type Output struct {
	Path   string // relative to the workspace, with "/"; any bytes but NUL
	Kind   Kind
	Mode   fs.FileMode // permission bits; 0 for links
	Digest Digest      // of a File
	Size   int64       // of a File, in bytes
	Target string      // of a Link, as it stands there
}

// blobs calls f with the digest of every blob that the record needs and does not hold
// itself.
func (r *Record) blobs(f func(Digest)) {
	each := func(d Digest) {
		if _, own := r.Small[d]; !own && d != (Digest{}) {
			f(d)
		}
	}
	for i := range r.Outputs {
		if r.Outputs[i].Kind == File {
			each(r.Outputs[i].Digest)
		}
	}
	each(r.Log)
	each(r.Recording)
}
