// Package cache keeps the results of tasks: blobs by the digest of their content, and for each key
// a record that names the blobs of a task and their paths.
//
// A Key is the hash of everything that a result depends on; the caller computes it. A Digest is the
// BLAKE3 hash of the bytes of a blob. A store never fails a build: a damaged or missing entry is a
// miss.
package cache

import (
	"errors"
	"io"
	"io/fs"
	"time"
)

// ErrMiss reports that a store does not have the entry.
var ErrMiss = errors.New("not in the cache")

// Store keeps records and blobs. Its methods may be called concurrently. After an error other than ErrMiss
// the store cannot be used, and the build continues without it.
type Store interface {
	// Lookup returns the record of key, or ErrMiss. The record is the caller's.
	Lookup(key Key) (*Record, error)
	// Record stores r under key and replaces an earlier record. The caller adds the blobs first: a
	// reader that finds the record finds its blobs.
	Record(key Key, r *Record) error
	// Open returns the blob, or ErrMiss. A reader that returns io.EOF has returned exactly the
	// bytes of that digest. For a damaged blob the last Read returns ErrMiss.
	Open(d Digest) (io.ReadCloser, error)
	// Add stores the content of r. It returns an error, and stores nothing, when the digest of the
	// content is not d. It may leave r unread when the store has the blob already.
	Add(d Digest, r io.Reader) error
}

// Record is the result of a task.
type Record struct {
	Outputs     []Output // sorted by path, each path once
	Exit        int
	Log         Digest            // blob of the printed output; zero when the task printed nothing
	LogSize     int64             // size of Log in bytes
	Pack        Digest            // blob with the ingredients of keys; zero for none
	Ingredients Digest            // digest of the ingredients of this key, which are in Pack
	Small       map[Digest][]byte // blobs stored in the record itself; see With
	Created     time.Time
	Duration    time.Duration
	Host        string // machine that ran the task
}

// Kind is the type of file of an Output.
type Kind uint8

// The kinds. Records contain these values.
const (
	File Kind = 1
	Link Kind = 2
	Dir  Kind = 3 // recorded only for an empty directory or one with an unusual mode
)

// Output is one file, link or directory that a task made.
type Output struct {
	Path   string // relative to the workspace, with "/"; any bytes but NUL
	Kind   Kind
	Mode   fs.FileMode // permission bits; 0 for links
	Digest Digest      // of a File
	Size   int64       // of a File, in bytes
	Target string      // of a Link, unchanged
}

// blobs calls f with the digest of every blob that the record needs and does not contain.
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
	each(r.Pack)
}
