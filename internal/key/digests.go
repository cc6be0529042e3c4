package key

import (
	"io/fs"
	"maps"
	"slices"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/internal/pack"
	"github.com/bentobuild/bento/internal/state"
)

// The remembered digests are one file of the workspace's state.
const (
	digestsFile    = "keys"
	digestsVersion = 3
)

// knownFiles is the remembered digest of a set of files. It is valid while the validator is the same.
type knownFiles struct {
	Validator validator    // of the files' content, and of the rules that select them; zero: not known
	Digest    cache.Digest // of the set
	Locks     []lockPart   // the ingredients of the key that replace files of the set
}

func (f *knownFiles) equal(o knownFiles) bool {
	return f.Validator == o.Validator && f.Digest == o.Digest && slices.Equal(f.Locks, o.Locks)
}

// lockPart is the part of a file that one dish uses.
type lockPart struct{ Path, Digest string }

// knownResult is the remembered result of a key. The key is zero if there is none.
type knownResult struct {
	Key     cache.Key
	Made    cache.Digest // of Outputs, for the keys of dependents
	Outputs []cache.Output
}

// digestEntry is the entry of one id.
type digestEntry struct {
	Files  knownFiles
	Result knownResult
}

// outputsDigest returns the digest of outputs, which does not depend on when and where they were
// made; zero for no outputs.
func outputsDigest(outputs []cache.Output) (none cache.Digest) {
	if len(outputs) == 0 {
		return none
	}
	var w pack.Writer
	for _, o := range outputs {
		w.String(o.Path)
		w.Byte(byte(o.Kind))
		w.Uint(uint64(o.Mode.Perm()))
		w.String(o.Target)
		w.Raw(o.Digest[:])
	}
	return cache.Sum(w.Payload())
}

// digestStore holds the entries of a workspace by id. It is for one goroutine.
type digestStore struct {
	state   *state.Dir
	salt    string
	first   bool // no earlier invocation has saved an entry
	size    int  // of the file in bytes
	entries map[string]*digestEntry
	changed int // the number of changes since the last Save
}

// openDigestStore reads the entries that are saved in dir. salt identifies the program that made
// them: entries of another program are ignored.
func openDigestStore(dir *state.Dir, salt string) *digestStore {
	m := &digestStore{state: dir, salt: salt}
	payload, err := dir.Load(digestsFile, digestsVersion)
	if err == nil {
		m.entries, err = decodeDigests(payload, salt)
	}
	if m.size = len(payload); err != nil {
		m.entries, m.size = make(map[string]*digestEntry), 0
	}
	m.first = len(m.entries) == 0
	return m
}

// Of returns the entry of an id, nil when there is none. The caller does not change it.
func (m *digestStore) Of(id string) *digestEntry { return m.entries[id] }

// KeepFiles remembers a set of files.
func (m *digestStore) KeepFiles(id string, f knownFiles) {
	if old := m.entries[id]; old == nil || !old.Files.equal(f) {
		m.change(id).Files = f
	}
}

// KeepResult remembers the result of a key.
func (m *digestStore) KeepResult(id string, r knownResult) {
	if old := m.entries[id]; old == nil || !old.Result.equal(&r) {
		m.change(id).Result = r
	}
}

func (m *digestStore) change(id string) *digestEntry {
	if m.entries[id] == nil {
		m.entries[id] = new(digestEntry)
	}
	m.changed++
	return m.entries[id]
}

func (r *knownResult) equal(o *knownResult) bool {
	return r.Key == o.Key && r.Made == o.Made && slices.Equal(r.Outputs, o.Outputs)
}

// Save writes the entries if one of them is new. If two invocations save at the same time,
// one of them wins, and the next invocation computes the other's digests again.
func (m *digestStore) Save() error {
	if m.changed == 0 {
		return nil
	}
	payload := encodeDigests(m.salt, m.entries, m.size+m.changed*usualEntrySize)
	m.size, m.changed = len(payload), 0
	return m.state.Store(digestsFile, digestsVersion, payload)
}

// encodeDigests encodes entries, in about room bytes.
func encodeDigests(salt string, entries map[string]*digestEntry, room int) []byte {
	var w pack.Writer
	w.Grow(room)
	w.String(salt)
	w.Uint(uint64(len(entries)))
	for _, id := range slices.Sorted(maps.Keys(entries)) {
		f, r := &entries[id].Files, &entries[id].Result
		w.String(id)
		w.Raw(f.Validator[:])
		w.Raw(f.Digest[:])
		w.Uint(uint64(len(f.Locks)))
		for _, l := range f.Locks {
			w.String(l.Path)
			w.String(l.Digest)
		}
		w.Raw(r.Key[:])
		w.Raw(r.Made[:])
		w.Uint(uint64(len(r.Outputs)))
		for _, o := range r.Outputs {
			w.String(o.Path)
			w.Byte(byte(o.Kind))
			w.Raw(o.Digest[:])
			w.Uint(uint64(max(0, o.Size)))
			w.Uint(uint64(o.Mode.Perm()))
			w.String(o.Target)
		}
	}
	return w.Payload()
}

// usualEntrySize is the size of most encoded entries in bytes: one with an output.
const usualEntrySize = 256

// minEntrySize is the size of the smallest encoded entry in bytes.
const minEntrySize = 1 + 4*32 + 2

func decodeDigests(payload []byte, salt string) (map[string]*digestEntry, error) {
	r := pack.NewReader(payload)
	if r.String() != salt {
		return nil, pack.ErrFormat
	}
	all := make([]digestEntry, r.Count(minEntrySize)) // one allocation for all
	entries, last := make(map[string]*digestEntry, len(all)), ""
	for i := range all {
		id, f, made := r.String(), &all[i].Files, &all[i].Result
		if i > 0 && last >= id {
			return nil, pack.ErrFormat
		}
		entries[id], last = &all[i], id
		copy(f.Validator[:], r.Raw(32))
		copy(f.Digest[:], r.Raw(32))
		for range r.Count(2) {
			f.Locks = append(f.Locks, lockPart{Path: r.String(), Digest: r.String()})
		}
		copy(made.Key[:], r.Raw(32))
		copy(made.Made[:], r.Raw(32))
		made.Outputs = make([]cache.Output, r.Count(37))
		for j := range made.Outputs {
			readOutput(r, &made.Outputs[j])
		}
	}
	return entries, r.End()
}

func readOutput(r *pack.Reader, o *cache.Output) {
	o.Path, o.Kind = r.String(), cache.Kind(r.Byte())
	copy(o.Digest[:], r.Raw(32))
	o.Size, o.Mode, o.Target = int64(r.Uint()), fs.FileMode(r.Uint())&fs.ModePerm, r.String()
}
