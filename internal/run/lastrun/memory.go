// Package lastrun remembers the last good run of every task of a workspace.
package lastrun

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/discovery"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/state"
)

// The memory is one file of the workspace's state.
const (
	memoryFile    = "tasks"
	memoryVersion = 4
	memoryLock    = "tasks.lock"
)

// Run is what is known of the last good run of a task, whether it was executed or
// restored.
type Run struct {
	Key        cache.Key
	Unstored   bool          // the cache did not get the result of the execution
	Duration   time.Duration // of the last execution
	Outputs    []string      // relative to the workspace, what the task has made
	ByProducts []ByProduct   // what it has made without declaring it, by path
	// Found is what lay among its outputs before it ran and was left as it was, by
	// path. The task may have been content with it, so it counts as an input.
	Found []string
	// Left is what executions and restores since then have left among the outputs that
	// did not come to a good end, by path.
	Left []string
}

// ByProduct is a file that a task made and does not declare. As long as it is
// what the task made, it is no input.
type ByProduct struct {
	Path string
	Sum  [32]byte
}

// Memory holds the last good runs of the tasks of a workspace, by place and name.
// It is for one goroutine; Of is safe for concurrent use.
type Memory struct {
	state   *state.Dir
	file    state.Stamp // when it was read
	changed map[string]bool

	mu       sync.RWMutex // held to write what follows, and to read it beside the one goroutine
	tasks    map[string]*Run
	littered map[string]int // by place of the dish: how many of its tasks have by-products
}

// Open reads the memory kept in dir.
func Open(dir *state.Dir) *Memory {
	m := &Memory{state: dir, changed: make(map[string]bool), littered: make(map[string]int)}
	m.file = dir.Stamp(memoryFile)
	m.tasks = loadTasks(dir)
	for id, r := range m.tasks {
		m.count(id, r, 1)
	}
	return m
}

// Outdated tells whether another bento has written the memory since Open, or removed it.
func (m *Memory) Outdated() bool {
	return m.state.Stamp(memoryFile) != m.file
}

// ID names a task by the place of its dish, which a new name does not change.
func ID(t *plan.Task) string { return t.Dish.Path + "\x00" + t.Name }

// Of gives what is remembered of t; nothing is an empty value.
func (m *Memory) Of(t *plan.Task) *Run {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if r := m.tasks[ID(t)]; r != nil {
		return r
	}
	return &Run{}
}

// Littered tells whether any task of d has left by-products. Few do, and who asks would
// have to look at every task of the dish for each of them.
func (m *Memory) Littered(d *discovery.Dish) bool { return m.littered[d.Path] > 0 }

// put replaces what is remembered of the task id.
func (m *Memory) put(id string, r *Run) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.count(id, m.tasks[id], -1)
	m.count(id, r, 1)
	m.tasks[id] = r
	m.changed[id] = true
}

func (m *Memory) count(id string, r *Run, n int) {
	if r != nil && len(r.ByProducts) > 0 {
		dish, _, _ := strings.Cut(id, "\x00")
		m.littered[dish] += n
	}
}

// Keep replaces what is remembered of t.
func (m *Memory) Keep(t *plan.Task, r *Run) {
	id := ID(t)
	if old := m.tasks[id]; old != nil && old.equal(r) {
		return
	}
	m.put(id, r)
}

// Leave notes that something in the place of the outputs of the task id was left by
// what did not come to a good end.
func (m *Memory) Leave(id string, left []string) {
	r := &Run{}
	if old := m.tasks[id]; old != nil {
		*r = *old
	}
	r.Left = slices.Compact(slices.Sorted(slices.Values(slices.Concat(r.Left, left))))
	m.put(id, r)
}

func (r *Run) equal(o *Run) bool {
	return r.Key == o.Key && r.Unstored == o.Unstored && r.Duration == o.Duration &&
		slices.Equal(r.Outputs, o.Outputs) && slices.Equal(r.ByProducts, o.ByProducts) && slices.Equal(r.Found, o.Found) && slices.Equal(r.Left, o.Left)
}

// Save writes what changed on top of what another bento may have written since.
func (m *Memory) Save(ctx context.Context) error {
	if len(m.changed) == 0 {
		return nil
	}
	unlock, err := m.state.Lock(ctx, memoryLock, nil)
	if err != nil {
		return err
	}
	defer unlock()
	now := loadTasks(m.state) // whatever its stat: times are coarse on some file systems
	for id := range m.changed {
		now[id] = m.tasks[id]
	}
	clear(m.changed)
	return m.state.Store(memoryFile, memoryVersion, encodeTasks(now))
}

func encodeTasks(tasks map[string]*Run) []byte {
	var w state.Writer
	w.Uint(uint64(len(tasks)))
	for _, id := range slices.Sorted(maps.Keys(tasks)) {
		r := tasks[id]
		w.String(id)
		w.Raw(r.Key[:])
		w.Byte(flag(r.Unstored))
		w.Uint(uint64(max(0, r.Duration)))
		w.Strings(r.Outputs)
		w.Uint(uint64(len(r.ByProducts)))
		for _, b := range r.ByProducts {
			w.String(b.Path)
			w.Raw(b.Sum[:])
		}
		w.Strings(r.Found)
		w.Strings(r.Left)
	}
	return w.Payload()
}

func flag(set bool) byte {
	if set {
		return 1
	}
	return 0
}

// loadTasks reads the memory; one that cannot be read is an empty one.
func loadTasks(dir *state.Dir) map[string]*Run {
	payload, err := dir.Load(memoryFile, memoryVersion)
	if err != nil {
		return make(map[string]*Run)
	}
	tasks, err := decodeTasks(payload)
	if err != nil {
		return make(map[string]*Run)
	}
	return tasks
}

func decodeTasks(payload []byte) (map[string]*Run, error) {
	r := state.NewReader(payload)
	n := r.Count(39)
	tasks := make(map[string]*Run, n)
	for range n {
		id := r.String()
		t := &Run{}
		copy(t.Key[:], r.Raw(32))
		t.Unstored = r.Byte() != 0
		t.Duration = time.Duration(r.Uint())
		t.Outputs = r.Strings()
		for range r.Count(33) {
			b := ByProduct{Path: r.String()}
			copy(b.Sum[:], r.Raw(32))
			t.ByProducts = append(t.ByProducts, b)
		}
		t.Found = r.Strings()
		t.Left = r.Strings()
		tasks[id] = t
	}
	return tasks, r.End()
}
