package remoteexec

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"maps"
	"os"
	"sync"
	"syscall"

	"github.com/zeebo/blake3"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/cache/remote"
	"github.com/bentobuild/bento/internal/state"
)

// The digests on the wire of files that were hashed both ways are a file of the workspace's state, so that no later run hashes
// them again.
const (
	sumsFile    = "remote-sums"
	sumsVersion = 1
	sumsEntry   = len(cache.Digest{}) + sha256.Size + 8 // bytes
	maxSums     = 1 << 18
)

// sums has the digests on the wire of blobs, by their own digests. It is safe for concurrent use.
type sums struct {
	dir  *state.Dir
	load sync.Once

	mu      sync.Mutex
	known   map[cache.Digest]remote.Digest
	used    map[cache.Digest]remote.Digest
	changed bool
}

func newSums(dir *state.Dir) *sums {
	return &sums{dir: dir, known: make(map[cache.Digest]remote.Digest), used: make(map[cache.Digest]remote.Digest)}
}

func (s *sums) read() {
	if s.dir == nil {
		return
	}
	payload, _ := s.dir.Load(sumsFile, sumsVersion) // without, the files are hashed
	for ; len(payload) >= sumsEntry; payload = payload[sumsEntry:] {
		var d cache.Digest
		var wire remote.Digest
		rest := payload[copy(d[:], payload):]
		rest = rest[copy(wire.Hash[:], rest):]
		wire.Size = int64(binary.LittleEndian.Uint64(rest))
		s.known[d] = wire
	}
}

// errChanged is the error of a file that has not the content that the key of its task has.
var errChanged = errors.New("it has changed since the key was made")

// wire returns the digest on the wire of a file with a digest.
func (s *sums) wire(name string, d cache.Digest) (remote.Digest, error) {
	s.load.Do(s.read)
	s.mu.Lock()
	wire, known := s.known[d]
	if known {
		s.used[d] = wire
	}
	s.mu.Unlock()
	if known {
		return wire, nil
	}
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return remote.Digest{}, err
	}
	defer f.Close()
	hash, own := sha256.New(), blake3.New()
	if wire.Size, err = io.Copy(io.MultiWriter(hash, own), f); err != nil {
		return remote.Digest{}, err
	}
	if cache.Digest(own.Sum(nil)) != d {
		return remote.Digest{}, errChanged
	}
	hash.Sum(wire.Hash[:0])
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known[d], s.used[d], s.changed = wire, wire, true
	return wire, nil
}

// save keeps the digests for later runs. If there are too many, it keeps those that were used.
func (s *sums) save() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.changed || s.dir == nil {
		return
	}
	s.changed = false
	if len(s.known) > maxSums {
		s.known = maps.Clone(s.used)
	}
	payload := make([]byte, 0, len(s.known)*sumsEntry)
	for d, wire := range s.known {
		payload = append(append(payload, d[:]...), wire.Hash[:]...)
		payload = binary.LittleEndian.AppendUint64(payload, uint64(wire.Size))
	}
	_ = s.dir.Store(sumsFile, sumsVersion, payload) // without, the files are hashed again
}
