package tree

import (
	"hash/maphash"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/bentobuild/bento/internal/tree/disk"
)

// fileState is the stat of a file with its digest. Settled reports whether the same stat means the
// same content; otherwise that is only likely.
type fileState struct {
	disk.Entry
	Sum     [32]byte
	Settled bool
}

// most is the largest number of states of one file.
const most = 8

// fileStates are the states of files found in this process. It is safe for concurrent use; the
// zero value is empty.
type fileStates struct {
	shards [32]shard // by path: all cores read files at once
	news   atomic.Bool
}

type shard struct {
	mu    sync.RWMutex
	files map[string][]fileState // newest last
}

var seed = maphash.MakeSeed()

func (f *fileStates) shard(path string) *shard {
	return &f.shards[maphash.String(seed, path)%uint64(len(f.shards))]
}

// Of returns the state with the stat of e.
func (f *fileStates) Of(e *disk.Entry) (fileState, bool) {
	in := f.shard(e.Path)
	in.mu.RLock()
	defer in.mu.RUnlock()
	for _, s := range slices.Backward(in.files[e.Path]) {
		if s.SameStat(e) {
			return s, true
		}
	}
	return fileState{}, false
}

// Add adds a state.
func (f *fileStates) Add(s fileState) {
	in := f.shard(s.Path)
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.files == nil {
		in.files = make(map[string][]fileState)
	}
	s.Slot = 0
	list := slices.DeleteFunc(in.files[s.Path], func(o fileState) bool { return o.SameStat(&s.Entry) })
	if len(list) == most {
		list = slices.Delete(list, 0, 1)
	}
	in.files[s.Path] = append(list, s)
	if s.Settled {
		f.news.Store(true)
	}
}

// SetNews sets whether a settled state was added, and returns the previous value.
func (f *fileStates) SetNews(to bool) (was bool) {
	return f.news.Swap(to)
}

// Last returns the latest state of a file.
func (f *fileStates) Last(path string) (fileState, bool) {
	in := f.shard(path)
	in.mu.RLock()
	defer in.mu.RUnlock()
	list := in.files[path]
	if len(list) == 0 {
		return fileState{}, false
	}
	return list[len(list)-1], true
}

// Latest returns the latest states of the files that want selects, sorted by path.
func (f *fileStates) Latest(want func(*fileState) bool) (list []fileState) {
	for i := range f.shards {
		list = f.shards[i].latest(want, list)
	}
	slices.SortFunc(list, func(a, b fileState) int { return strings.Compare(a.Path, b.Path) })
	return list
}

func (s *shard) latest(want func(*fileState) bool, list []fileState) []fileState {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, states := range s.files {
		if last := &states[len(states)-1]; want(last) {
			list = append(list, *last)
		}
	}
	return list
}
