package adapters

import (
	"io/fs"
	"os"
	"sync"
	"time"
)

// racy is how long after a change of a file another one may leave its times as they
// are.
const racy = 100 * time.Millisecond

// Memo keeps what was made from files for as long as all of these stay as they
// are. Members of a workspace share it, so that each does not read the root
// again. The zero value is empty. It is safe for concurrent use; two goroutines
// that ask for the same thing at once may both make it.
type Memo[T any] struct {
	// Trust is for how long what was seen to hold is taken to hold without another
	// look, for what many directories ask for at once.
	Trust time.Duration
	// Brief says that what is older than Trust is made anew without a look at what it
	// was made from: for what costs no more than the look.
	Brief bool

	mu    sync.Mutex
	known map[string]made[T]
}

type made[T any] struct {
	at    time.Time
	seen  time.Time // when it was made, or held for the last time
	from  []stamp
	value T
	err   error
}

// stamp is a file as it was, with a nil info when it was not there.
type stamp struct {
	path string
	info fs.FileInfo
}

// Get gives what make gives for key, an absolute directory in which its Files are,
// and notes in f what that was made from. What it gives is shared and must not be
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

// holds tells whether the files are as they were. Of one that had just been written
// nobody can tell.
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
