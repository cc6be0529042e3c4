// Package recent holds what was found out about the content of files in this
// invocation.
package recent

import (
	"hash/maphash"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

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
	shards [32]shard // each has some of the paths: all cores read files at once
	news   atomic.Bool
}

type shard struct {
	mu    sync.RWMutex
	files map[string][]State // newest last
}

var seed = maphash.MakeSeed()

func (f *Files) shard(path string) *shard {
	return &f.shards[maphash.String(seed, path)%uint64(len(f.shards))]
}

// Of gives what was found for the stat of e.
func (f *Files) Of(e *disk.Entry) (State, bool) {
	in := f.shard(e.Path)
	in.mu.RLock()
	defer in.mu.RUnlock()
	for _, s := range slices.Backward(in.files[e.Path]) {
		if s.SameStat(e) {
			return s, true
		}
	}
	return State{}, false
}

// Add adds a state.
func (f *Files) Add(s State) {
	in := f.shard(s.Path)
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.files == nil {
		in.files = make(map[string][]State)
	}
	s.Slot = 0
	list := slices.DeleteFunc(in.files[s.Path], func(o State) bool { return o.SameStat(&s.Entry) })
	if len(list) == most {
		list = slices.Delete(list, 0, 1)
	}
	in.files[s.Path] = append(list, s)
	if s.Settled {
		f.news.Store(true)
	}
}

// SetNews says whether a settled state was added, and gives what it was before.
func (f *Files) SetNews(to bool) (was bool) {
	return f.news.Swap(to)
}

// Last gives the state of a file that was added last.
func (f *Files) Last(path string) (State, bool) {
	in := f.shard(path)
	in.mu.RLock()
	defer in.mu.RUnlock()
	list := in.files[path]
	if len(list) == 0 {
		return State{}, false
	}
	return list[len(list)-1], true
}

// Latest gives the last states of those files that want tells, sorted by path.
func (f *Files) Latest(want func(*State) bool) (list []State) {
	for i := range f.shards {
		list = f.shards[i].latest(want, list)
	}
	slices.SortFunc(list, func(a, b State) int { return strings.Compare(a.Path, b.Path) })
	return list
}

func (s *shard) latest(want func(*State) bool, list []State) []State {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, states := range s.files {
		if last := &states[len(states)-1]; want(last) {
			list = append(list, *last)
		}
	}
	return list
}
