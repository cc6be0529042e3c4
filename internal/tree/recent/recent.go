// Package recent holds what was found out about the content of files in this
// invocation.
package recent

import (
	"slices"
	"strings"
	"sync"

	"github.com/bentobuild/bento/internal/tree/disk"
)

// State is what a look at a file has found. Settled says that whoever has the same
// stat has the same content; without it that is only likely.
type State struct {
	disk.Entry
	Sum     [32]byte
	Settled bool
}

// most bounds how many states of one file are kept.
const most = 8

// Files are the states that files were found in. It is safe for concurrent use; the
// zero value is empty.
type Files struct {
	mu    sync.RWMutex
	files map[string][]State // newest last
	news  bool
}

// Of gives what was found for the stat of e.
func (f *Files) Of(e *disk.Entry) (State, bool) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	for _, s := range slices.Backward(f.files[e.Path]) {
		if s.SameStat(e) {
			return s, true
		}
	}
	return State{}, false
}

// Add adds a state.
func (f *Files) Add(s State) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.files == nil {
		f.files = make(map[string][]State)
	}
	s.Slot = 0
	list := slices.DeleteFunc(f.files[s.Path], func(o State) bool { return o.SameStat(&s.Entry) })
	if len(list) == most {
		list = slices.Delete(list, 0, 1)
	}
	f.files[s.Path] = append(list, s)
	f.news = f.news || s.Settled
}

// SetNews says whether a settled state was added, and gives what it was before.
func (f *Files) SetNews(to bool) (was bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	was, f.news = f.news, to
	return was
}

// Last gives the state of a file that was added last.
func (f *Files) Last(path string) (State, bool) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	list := f.files[path]
	if len(list) == 0 {
		return State{}, false
	}
	return list[len(list)-1], true
}

// Latest gives the last states of those files that want tells, sorted by path.
func (f *Files) Latest(want func(*State) bool) (list []State) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	for _, states := range f.files {
		if s := &states[len(states)-1]; want(s) {
			list = append(list, *s)
		}
	}
	slices.SortFunc(list, func(a, b State) int { return strings.Compare(a.Path, b.Path) })
	return list
}
