package adapters

import (
	"io/fs"
	"os"
	"sync"
	"time"
)

// racy is how long after a change of a file another change may keep its times.
const racy = 100 * time.Millisecond

// Memo keeps values made from files until one of these files changes. Members of a
// workspace share it, so that they do not all read the root again. The zero value is empty.
// It is safe for concurrent use; two goroutines that need the same value at once may both
// make it.
type Memo[T any] struct {
	// Trust is how long a value is returned without checking its files again, for values
	// that many directories need at once.
	Trust time.Duration
	// Brief says that a value older than Trust is made again without checking its files:
	// for values that cost no more than the check.
	Brief bool

	mu    sync.Mutex
	known map[string]made[T]
}

type made[T any] struct {
	at    time.Time
	seen  time.Time // when it was made or last checked
	from  []stamp
	value T
	err   error
}

// stamp is the state of a file, with a nil info when it was missing.
type stamp struct {
	path string
	info fs.FileInfo
}

// Get returns the value that make returns for key, an absolute directory in which its Files
// read, and notes in f which files it depends on. The value is shared and must not be
// changed.
func (m *Memo[T]) Get(f *Files, key string, make func(*Files) (T, error)) (T, error) {
	m.mu.Lock()
	old, ok := m.known[key]
	m.mu.Unlock()
	if now := time.Now(); !ok || now.Sub(old.seen) >= m.Trust {
		if !ok || m.Brief || !old.holds() {
			old = remake(f.In(key), make, !m.Brief)
		}
		old.seen = now
		m.put(key, old)
	}
	for _, s := range old.from {
		f.asked[s.path] = struct{}{}
	}
	return old.value, old.err
}

func (m *Memo[T]) put(key string, value made[T]) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.known == nil {
		m.known = make(map[string]made[T])
	}
	m.known[key] = value
}

func remake[T any](f *Files, produce func(*Files) (T, error), look bool) made[T] {
	out := made[T]{at: time.Now()}
	out.value, out.err = produce(f)
	out.from = make([]stamp, 0, len(f.asked))
	for path := range f.asked {
		s := stamp{path: path}
		if look {
			s.info, _ = os.Stat(path)
		}
		out.from = append(out.from, s)
	}
	return out
}

// holds reports whether the files are unchanged. A file that had just been written may have
// changed without a trace, so it does not hold.
func (m *made[T]) holds() bool {
	for _, s := range m.from {
		info, _ := os.Stat(s.path)
		if !same(s.info, info) || info != nil && m.at.Sub(info.ModTime()) < racy {
			return false
		}
	}
	return true
}

func same(a, b fs.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return a.Size() == b.Size() && a.ModTime().Equal(b.ModTime()) && a.Mode() == b.Mode() && os.SameFile(a, b)
}
