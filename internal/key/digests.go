package key

import (
	"io/fs"
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
	state *state.Dir
	salt  string
	saved savedDigests
	size  int                     // of the file in bytes
	fresh map[string]*digestEntry // the entries that differ from saved
}

// savedDigests are the entries that an earlier invocation has saved. They never change, and are
// safe for concurrent use.
type savedDigests struct {
	ids     []string       // sorted, without duplicates
	entries []digestEntry  // in the order of ids
	at      map[string]int // the index of an id in ids
}

// index fills at from ids.
func (s *savedDigests) index() {
	s.at = make(map[string]int, len(s.ids))
	for i, id := range s.ids {
		s.at[id] = i
	}
}

// Of returns the entry of an id, nil when there is none.
func (s savedDigests) Of(id string) *digestEntry {
	if i, ok := s.at[id]; ok {
		return &s.entries[i]
	}
	return nil
}

// openDigestStore reads the entries that are saved in dir. salt identifies the program that made
// them: entries of another program are ignored.
func openDigestStore(dir *state.Dir, salt string) *digestStore {
	m := &digestStore{state: dir, salt: salt, fresh: make(map[string]*digestEntry)}
	payload, err := dir.Load(digestsFile, digestsVersion)
	if err != nil {
		return m
	}
	if saved, err := decodeDigests(payload, salt); err == nil {
		m.saved, m.size = saved, len(payload)
	}
	return m
}

// Saved returns the entries that were saved last.
func (m *digestStore) Saved() savedDigests { return m.saved }

// Empty reports whether no earlier invocation has saved an entry.
func (m *digestStore) Empty() bool { return len(m.saved.ids) == 0 }

// Of returns the entry of an id, nil when there is none. The caller does not change it.
func (m *digestStore) Of(id string) *digestEntry {
	if e := m.fresh[id]; e != nil {
		return e
	}
	return m.saved.Of(id)
}

// KeepFiles remembers a set of files.
func (m *digestStore) KeepFiles(id string, f knownFiles) {
	if old := m.Of(id); old == nil || !old.Files.equal(f) {
		m.change(id).Files = f
	}
}

// KeepResult remembers the result of a key.
func (m *digestStore) KeepResult(id string, r knownResult) {
	if old := m.Of(id); old == nil || !old.Result.equal(&r) {
		m.change(id).Result = r
	}
}

func (m *digestStore) change(id string) *digestEntry {
	e := m.fresh[id]
	if e == nil {
		e = new(digestEntry)
		if old := m.saved.Of(id); old != nil {
			*e = *old
		}
		m.fresh[id] = e
	}
	return e
}

func (r *knownResult) equal(o *knownResult) bool {
	return r.Key == o.Key && r.Made == o.Made && slices.Equal(r.Outputs, o.Outputs)
}

// Save writes the entries if one of them is new. If two invocations save at the same time,
// one of them wins, and the next invocation computes the other's digests again.
func (m *digestStore) Save() error {
	if len(m.fresh) == 0 {
		return nil
	}
	room := m.size + len(m.fresh)*usualEntrySize
	m.saved, m.fresh = m.saved.with(m.fresh), make(map[string]*digestEntry)
	payload := encodeDigests(m.salt, m.saved, room)
	m.size = len(payload)
	return m.state.Store(digestsFile, digestsVersion, payload)
}

// with returns the entries of s and fresh. Those of fresh replace others of the same id.
func (s savedDigests) with(fresh map[string]*digestEntry) savedDigests {
	added := 0
	for id := range fresh {
		if _, had := s.at[id]; !had {
			added++
		}
	}
	if added == 0 { // the ids and their indices stay the same
		all := savedDigests{ids: s.ids, at: s.at, entries: slices.Clone(s.entries)}
		for id, e := range fresh {
			all.entries[s.at[id]] = *e
		}
		return all
	}
	all := savedDigests{ids: make([]string, 0, len(s.ids)+added), entries: make([]digestEntry, 0, len(s.ids)+added)}
	all.ids = append(all.ids, s.ids...)
	for id := range fresh {
		if _, had := s.at[id]; !had {
			all.ids = append(all.ids, id)
		}
	}
	slices.Sort(all.ids)
	all.index()
	for _, id := range all.ids {
		e := fresh[id]
		if e == nil {
			e = s.Of(id)
		}
		all.entries = append(all.entries, *e)
	}
	return all
}

// encodeDigests encodes entries, in about room bytes.
func encodeDigests(salt string, s savedDigests, room int) []byte {
	var w pack.Writer
	w.Grow(room)
	w.String(salt)
	w.Uint(uint64(len(s.ids)))
	for i := range s.entries {
		f, r := &s.entries[i].Files, &s.entries[i].Result
		w.String(s.ids[i])
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

func decodeDigests(payload []byte, salt string) (s savedDigests, err error) {
	r := pack.NewReader(payload)
	if r.String() != salt {
		return s, pack.ErrFormat
	}
	n := r.Count(minEntrySize)
	s.ids, s.entries = make([]string, n), make([]digestEntry, n)
	for i := range n {
		f, made := &s.entries[i].Files, &s.entries[i].Result
		s.ids[i] = r.String()
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
	if err := r.End(); err != nil {
		return savedDigests{}, err
	}
	for i, id := range s.ids {
		if i > 0 && s.ids[i-1] >= id {
			return savedDigests{}, pack.ErrFormat
		}
	}
	s.index()
	return s, nil
}

func readOutput(r *pack.Reader, o *cache.Output) {
	o.Path, o.Kind = r.String(), cache.Kind(r.Byte())
	copy(o.Digest[:], r.Raw(32))
	o.Size, o.Mode, o.Target = int64(r.Uint()), fs.FileMode(r.Uint())&fs.ModePerm, r.String()
}
