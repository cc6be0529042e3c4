package remote

import (
	"cmp"
	"context"
	"errors"
	"io"
	"sync"

	"github.com/bentobuild/bento/cache"
)

// ID names a result beyond this machine. Keys are equal on machines whose results differ, such as those with another
// libc, so the class of the machine is part of the name. So is the scope: a job that may write the scope of a pull request cannot replace what trunk reads.
type ID struct {
	Key   cache.Key
	Class string // of the machine that made it
	Scope string // such as "trunk" or "pr-7"
}

// Place decides which results are used, and where they are stored.
type Place struct {
	Class string   // of this machine
	Read  []string // scopes to read, the preferred first
	Write string   // scope to write, "" for none
	// Others has the results of another class, such as those of containers. It may be nil.
	Others *Classes
}

// Of returns the class of the result of a key.
func (p *Place) Of(key cache.Key) string { return cmp.Or(p.Others.of(key), p.Class) }

// Classes are the classes of results that do not belong to that of this machine. It is safe for concurrent use.
type Classes struct {
	mu   sync.Mutex
	list map[cache.Key]string
}

// Set sets the class of the result of a key.
func (c *Classes) Set(key cache.Key, class string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.list == nil {
		c.list = make(map[cache.Key]string)
	}
	c.list[key] = class
}

// of returns the class of the result of a key, "" if it is that of the machine.
func (c *Classes) of(key cache.Key) string {
	if c == nil {
		return ""
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.list[key]
}

// Store keeps results beyond this machine. Its methods may be called concurrently and return soon after ctx ended.
// It stores only what a Disk has, and what it finds becomes a result of the Disk before anything else uses it.
type Store interface {
	// Find asks for the results of keys at the same time. It calls answer once for each, in any order, one call
	// at a time, as answers come, and returns when all keys are answered.
	Find(ctx context.Context, keys []cache.Key, answer func(Answer))
	// Fetch gets the blobs of f that disk lacks, verifies them, and then stores the record: disk.Lookup(f.Key) is
	// a hit if Fetch returns nil. It returns ErrMiss if the server has lost a blob, a *RefusedError if it sent
	// something else, and any other error for a fault of the server, of the way to it, or of disk.
	Fetch(ctx context.Context, f *Found, disk *cache.Disk) error
	// Send stores results, whose blobs disk has, for others. It calls done once for each, one call at a time, as
	// soon as others can find it. Results that are sent together share questions and requests.
	Send(ctx context.Context, disk *cache.Disk, results []Outgoing, done func(Sent))
	// Close ends the connections.
	Close() error
}

// Answer is what a Store has for a key.
type Answer struct {
	Key   cache.Key
	Found *Found // nil after an error
	// Err is ErrMiss if there is no result, or a *RefusedError, which is also ErrMiss, if there is one that is not
	// trusted. Every other error is a fault, or the end of ctx.
	Err error
}

// Found is a result that a Store has.
type Found struct {
	ID
	Size     int64     // of all its blobs, in bytes; 0 if unknown
	Envelope *Envelope // nil if the store reads it only in Fetch
}

// Outgoing is a result of a Disk to be sent. A Store sends what Options.Prepare returns for it.
type Outgoing struct {
	Key    cache.Key
	Record *cache.Record
	NoLog  bool // the log stays at home
}

// Sent reports what became of an Outgoing.
type Sent struct {
	Key   cache.Key
	Bytes int64 // of the blobs that the server did not have, as they are on the disk of a reader
	Err   error // nil: others can find the result
}

// ErrPrivate reports that a result cannot leave this machine, such as one that failed or one with a link to an
// absolute path.
var ErrPrivate = errors.New("the result stays on this machine")

// Blob is content of a result.
type Blob struct {
	cache.Digest
	Size int64
}

// Blobs returns the blobs that r names and does not contain, each once, in the order of r. It returns an error if
// r has two sizes for one.
func Blobs(r *cache.Record) ([]Blob, error) {
	list := make([]Blob, 0, len(r.Outputs)+1)
	sizes := make(map[cache.Digest]int64, len(r.Outputs)+1)
	add := func(d cache.Digest, size int64) error {
		if data, own := r.Small[d]; own {
			if int64(len(data)) != size {
				return errSizes
			}
			return nil
		}
		was, again := sizes[d]
		switch {
		case again && was != size:
			return errSizes
		case !again:
			sizes[d] = size
			list = append(list, Blob{Digest: d, Size: size})
		}
		return nil
	}
	for i := range r.Outputs {
		if o := &r.Outputs[i]; o.Kind == cache.File {
			if err := add(o.Digest, o.Size); err != nil {
				return nil, err
			}
		}
	}
	if r.Log != (cache.Digest{}) {
		if err := add(r.Log, r.LogSize); err != nil {
			return nil, err
		}
	}
	return list, nil
}

var errSizes = errors.New("its record has two sizes for one blob")

// Content opens a blob of r, which is in r itself or on disk.
func Content(r *cache.Record, disk *cache.Disk, d cache.Digest) (io.ReadCloser, error) {
	return r.With(disk).Open(d)
}
