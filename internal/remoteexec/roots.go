package remoteexec

import (
	"crypto/sha256"
	"encoding/binary"
	"sync"

	"github.com/bentobuild/bento/cache/remote"
	"github.com/bentobuild/bento/internal/state"
)

// The digests of the directories that installs have made and that a server got are a file of the workspace's state, so that no
// later run reads or sends their files again.
const (
	rootsFile    = "remote-installs"
	rootsVersion = 1
	rootsEntry   = 2*sha256.Size + 8 // bytes
	maxRoots     = 1 << 12
)

// rootID identifies the content of such a directory, and the server.
type rootID [sha256.Size]byte

// rootTable has the digests of such directories. It is safe for concurrent use.
type rootTable struct {
	dir  *state.Dir
	load sync.Once

	mu      sync.Mutex
	of      map[rootID]remote.Digest
	used    map[rootID]remote.Digest
	changed bool
}

func newRoots(dir *state.Dir) *rootTable {
	return &rootTable{dir: dir, of: make(map[rootID]remote.Digest), used: make(map[rootID]remote.Digest)}
}

func (r *rootTable) read() {
	if r.dir == nil {
		return
	}
	payload, _ := r.dir.Load(rootsFile, rootsVersion) // without, the files are read
	for ; len(payload) >= rootsEntry; payload = payload[rootsEntry:] {
		var id rootID
		var root remote.Digest
		rest := payload[copy(id[:], payload):]
		rest = rest[copy(root.Hash[:], rest):]
		root.Size = int64(binary.LittleEndian.Uint64(rest))
		r.of[id] = root
	}
}

// find returns the digest of a directory that the server got in an earlier run.
func (r *rootTable) find(id rootID) (root remote.Digest, ok bool) {
	if id == (rootID{}) {
		return root, false
	}
	r.load.Do(r.read)
	r.mu.Lock()
	defer r.mu.Unlock()
	if root, ok = r.of[id]; ok {
		r.used[id] = root
	}
	return root, ok
}

func (r *rootTable) add(id rootID, root remote.Digest) {
	if id == (rootID{}) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.of[id], r.used[id], r.changed = root, root, true
}

func (r *rootTable) drop(id rootID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.of, id)
	delete(r.used, id)
	r.changed = true
}

// save keeps the digests for later runs. If there are too many, it keeps those that were used.
func (r *rootTable) save() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.changed || r.dir == nil {
		return
	}
	r.changed = false
	kept := r.of
	if len(kept) > maxRoots {
		kept = r.used
	}
	payload := make([]byte, 0, len(kept)*rootsEntry)
	for id, root := range kept {
		payload = append(append(payload, id[:]...), root.Hash[:]...)
		payload = binary.LittleEndian.AppendUint64(payload, uint64(root.Size))
	}
	_ = r.dir.Store(rootsFile, rootsVersion, payload) // without, the files are sent again
}
