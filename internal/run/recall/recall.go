// Package recall remembers what the keys of tasks were made from, so that a key need
// not be made again when nothing of it has changed. It never tells whether a result
// is there: that is for the cache to say.
package recall

import (
	"io/fs"
	"maps"
	"slices"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/internal/state"
)

// The memory is one file of the workspace's state.
const (
	fileName = "keys"
	version  = 1
)

// Basis is the digest of everything that a key is a function of. Tasks of the same
// basis have the same key.
type Basis [32]byte

// Known is what is remembered of one task.
type Known struct {
	Basis   Basis
	Key     cache.Key
	Made    cache.Digest // of what it made, for those that depend on it by that
	Outputs []cache.Output
}

// Made is the digest of what a task has made, whenever and wherever; zero for nothing.
func Made(outputs []cache.Output) (none cache.Digest) {
	if len(outputs) == 0 {
		return none
	}
	var w state.Writer
	for _, o := range outputs {
		w.String(o.Path)
		w.Byte(byte(o.Kind))
		w.Uint(uint64(o.Mode.Perm()))
		w.String(o.Target)
		w.Raw(o.Digest[:])
	}
	return cache.Sum(w.Payload())
}

// Memory holds what is remembered of the tasks of a workspace, by their ids. It is for
// one goroutine.
type Memory struct {
	state *state.Dir
	salt  string
	ids   []string // sorted
	known []Known  // by ids
	fresh map[string]Known
}

// Open reads the memory kept in dir. With another salt, which says what program has
// made the keys, nothing is remembered.
func Open(dir *state.Dir, salt string) *Memory {
	m := &Memory{state: dir, salt: salt, fresh: make(map[string]Known)}
	payload, err := dir.Load(fileName, version)
	if err != nil {
		return m
	}
	if ids, known, err := decode(payload, salt); err == nil {
		m.ids, m.known = ids, known
	}
	return m
}

// Of gives what is remembered of a task.
func (m *Memory) Of(id string) (k *Known, ok bool) {
	i, ok := slices.BinarySearch(m.ids, id)
	if !ok {
		return nil, false
	}
	return &m.known[i], true
}

// Keep remembers k of a task from the next invocation on.
func (m *Memory) Keep(id string, k Known) {
	if old, ok := m.Of(id); !ok || !old.equal(&k) {
		m.fresh[id] = k
	}
}

func (k *Known) equal(o *Known) bool {
	return k.Basis == o.Basis && k.Key == o.Key && k.Made == o.Made && slices.Equal(k.Outputs, o.Outputs)
}

// Save writes the memory if there is anything new. Of two invocations that save at
// the same time one wins, which costs the other's keys their memory and no more.
func (m *Memory) Save() error {
	if len(m.fresh) == 0 {
		return nil
	}
	for i, id := range m.ids {
		if _, ok := m.fresh[id]; !ok {
			m.fresh[id] = m.known[i]
		}
	}
	ids := slices.Sorted(maps.Keys(m.fresh))
	known := make([]Known, len(ids))
	for i, id := range ids {
		known[i] = m.fresh[id]
	}
	m.ids, m.known, m.fresh = ids, known, make(map[string]Known)
	return m.state.Store(fileName, version, encode(m.salt, ids, known))
}

func encode(salt string, ids []string, known []Known) []byte {
	var w state.Writer
	w.String(salt)
	w.Uint(uint64(len(ids)))
	for i := range known {
		k := &known[i]
		w.String(ids[i])
		w.Raw(k.Basis[:])
		w.Raw(k.Key[:])
		w.Raw(k.Made[:])
		w.Uint(uint64(len(k.Outputs)))
		for _, o := range k.Outputs {
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

func decode(payload []byte, salt string) (ids []string, known []Known, err error) {
	r := state.NewReader(payload)
	if r.String() != salt {
		return nil, nil, state.ErrFields
	}
	n := r.Count(98)
	ids, known = make([]string, n), make([]Known, n)
	for i := range n {
		k := &known[i]
		ids[i] = r.String()
		copy(k.Basis[:], r.Raw(32))
		copy(k.Key[:], r.Raw(32))
		copy(k.Made[:], r.Raw(32))
		k.Outputs = make([]cache.Output, r.Count(37))
		for j := range k.Outputs {
			readOutput(r, &k.Outputs[j])
		}
	}
	if err := r.End(); err != nil {
		return nil, nil, err
	}
	if !slices.IsSorted(ids) {
		return nil, nil, state.ErrFields
	}
	return ids, known, nil
}

func readOutput(r *state.Reader, o *cache.Output) {
	o.Path, o.Kind = r.String(), cache.Kind(r.Byte())
	copy(o.Digest[:], r.Raw(32))
	o.Size, o.Mode, o.Target = int64(r.Uint()), fs.FileMode(r.Uint())&fs.ModePerm, r.String()
}
