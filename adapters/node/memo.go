package node

import (
	"io/fs"
	"os"
	"sync"

	"github.com/bentobuild/bento/adapters"
)

// memo keeps what was made from files for as long as all of these stay as they
// are. Members of a workspace share it, so that each does not read the root
// again. The zero value is empty. It is safe for concurrent use; two goroutines
// that ask for the same thing at once may both make it.
type memo[T any] struct {
	mu    sync.Mutex
	known map[string]made[T]
}

type made[T any] struct {
	from  []stamp
	value T
	err   error
}

// stamp is a file as it was, with a nil info when it was not there.
type stamp struct {
	path string
	info fs.FileInfo
}

// get gives what make gives for key, and notes in f what that was made from.
func (m *memo[T]) get(f *adapters.Files, key string, make func(*adapters.Files) (T, error)) (T, error) {
	m.mu.Lock()
	old, ok := m.known[key]
	m.mu.Unlock()
	if !ok || !holds(old.from) {
		old = remake(f.Dir(), make)
		m.put(key, old)
	}
	for _, s := range old.from {
		f.Path(s.path)
	}
	return old.value, old.err
}

func (m *memo[T]) put(key string, value made[T]) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.known == nil {
		m.known = make(map[string]made[T])
	}
	m.known[key] = value
}

func remake[T any](dir string, make func(*adapters.Files) (T, error)) made[T] {
	var out made[T]
	f := adapters.NewFiles(dir)
	out.value, out.err = make(f)
	for _, path := range f.Reads() {
		info, _ := os.Stat(path)
		out.from = append(out.from, stamp{path, info})
	}
	return out
}

func holds(from []stamp) bool {
	for _, s := range from {
		info, _ := os.Stat(s.path)
		if !same(s.info, info) {
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
