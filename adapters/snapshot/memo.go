package snapshot

import (
	"sync"

	"github.com/bentobuild/bento/adapters"
)

// Memo keeps values that were made from files: as long as their snapshot is valid or, without a
// snapshot, until a file changes. Members of a workspace share it, so that they do not all read the
// root again. The zero value is empty. It is safe for concurrent use; two goroutines that need the
// same value at once may both make it.
type Memo[T any] struct {
	mu    sync.Mutex
	known map[memoKey]made[T]
}

// memoKey separates what was read outside of the workspace too.
type memoKey struct {
	key    string
	beyond bool
}

type made[T any] struct {
	of    *Snapshot // nil for the disk
	age   uint64    // of it
	from  adapters.Reads
	value T
	err   error
}

// Get returns the value that make returns for key, an absolute directory in which its Files
// read, and notes in f which files it depends on. The value is shared and must not be
// changed.
func (m *Memo[T]) Get(f *Files, key string, make func(*Files) (T, error)) (T, error) {
	at := memoKey{key, f.beyond}
	m.mu.Lock()
	v, known := m.known[at]
	m.mu.Unlock()
	if age := f.snapshot.age(); !known || !f.shows(v.of) || v.age != age {
		if !known || !f.hold(v.from) {
			below := f.In(key)
			v.value, v.err = make(below)
			v.from = below.Reads()
		}
		if v.of, v.age = nil, age; f.snapshot.held() {
			v.of = f.snapshot
		}
		m.put(at, v)
	}
	f.Note(v.from)
	return v.value, v.err
}

func (m *Memo[T]) put(key memoKey, value made[T]) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.known == nil {
		m.known = make(map[memoKey]made[T])
	}
	m.known[key] = value
}

// shows reports whether s shows the snapshot of, which does not change.
func (s Source) shows(of *Snapshot) bool { return s.snapshot.held() && s.snapshot == of }

// hold reports whether all files are in the states of r.
func (s Source) hold(r adapters.Reads) bool {
	for path, state := range r {
		whole := state.Sum != [32]byte{}
		look := func() adapters.State { return s.State(path, whole) }
		if whole && state.Kind == adapters.Directory { // all members of a workspace hold on the list of its packages
			look = func() adapters.State {
				return s.snapshot.list(path, func() adapters.State { return s.State(path, true) })
			}
		}
		if !state.Holds(look()) {
			return false
		}
	}
	return true
}
