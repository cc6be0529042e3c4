package key

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/pack"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/state"
)

// The history is one file of the workspace's state.
const (
	historyFile    = "tasks"
	historyVersion = 11
	historyLock    = "tasks.lock"
)

// LastRun is the last good run of a task, executed or restored.
type LastRun struct {
	Key        cache.Key
	Unstored   bool          // the result of the execution was not stored in the cache
	Duration   time.Duration // of the last execution
	Outputs    []string      // paths of the outputs, relative to the workspace, sorted
	ByProducts []ByProduct   // by path
	// Found are files that existed among its outputs before it ran and that it did not change,
	// by path. The task may have used them, so they are inputs.
	Found []string
	// Discovered are the discovered inputs of its last observed execution, by path and use.
	Discovered []Discovered
	// Observed is the number of observed executions, and Basis the digest of the command, the environment and the
	// toolchain that they had. Unobservable says that it fails when it is observed.
	Observed     int
	Basis        cache.Digest
	Unobservable bool
	// Unseen says, of a task with observed inputs, why its last execution was not observed as a whole; "" if it was.
	Unseen string
	// Reads are the places of the tasks whose outputs it was seen to read, sorted, although it does not declare to
	// depend on them.
	Reads []string
	// Left are files that failed executions and restores have left among the outputs since
	// then, by path.
	Left []string
	// Failed is the message of the last execution if it failed, "" after a good run.
	Failed string
	// Undeclared are files that it has left where git ignores them and no output covers them, by path.
	Undeclared []string
	// Warned are the files in such places that a warning has named since its result was last stored, by
	// path.
	Warned []string

	// Ran is the key of the last execution, good or not, and At when it ended, in nanoseconds since 1970.
	Ran cache.Key
	At  int64
	// Sources is the digest of the sources of its dish, and of those that it is linked to, when it last
	// was executed; zero unless its tool needs it (see Files.OutdatedCompiled).
	Sources cache.Digest
}

// Made reports whether p is one of the outputs.
func (r *LastRun) Made(p string) bool {
	if len(r.Outputs) == 0 {
		return false
	}
	_, found := slices.BinarySearch(r.Outputs, p)
	return found
}

// ByProduct is a file that a task has made and does not declare. It is no input while its
// content is the same.
type ByProduct struct {
	Path string
	Sum  [32]byte
}

// History holds the last good runs of the tasks of a workspace, by plan.Task.Place.
// It is for one goroutine; Of is safe for concurrent use.
type History struct {
	state   *state.Dir
	file    state.Stamp // when it was read
	changed map[string]bool

	mu         sync.RWMutex // guards tasks and byProducts, except for reads of the owning goroutine
	tasks      map[string]*LastRun
	byProducts map[string]int // by path of the dish: the number of its tasks with by-products
	reading    int            // the number of tasks with Reads
	latest     int64          // see Latest
}

// OpenHistory reads the history that is kept in dir.
func OpenHistory(dir *state.Dir) *History {
	m := &History{state: dir, changed: make(map[string]bool), byProducts: make(map[string]int)}
	m.file = dir.Stamp(historyFile)
	m.tasks = loadTasks(dir)
	for id, r := range m.tasks {
		m.count(id, r, 1)
		m.latest = max(m.latest, r.At)
	}
	return m
}

// Outdated reports whether another bento has written or removed the file since OpenHistory.
func (m *History) Outdated() bool {
	return m.state.Stamp(historyFile) != m.file
}

// Of returns the last good run of t, an empty LastRun if there is none.
func (m *History) Of(t *plan.Task) *LastRun {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if r := m.tasks[t.Place()]; r != nil {
		return r
	}
	return &LastRun{}
}

// HasByProducts reports whether a task of d has left by-products. Few dishes have any, so most
// callers need not look at every task of the dish.
func (m *History) HasByProducts(d *dish.Dish) bool { return m.byProducts[d.Path] > 0 }

// Made returns the files with one of the names that the last runs of tasks have made, as outputs or
// by-products, by path.
func (m *History) Made(names map[string]bool) map[string]bool {
	m.mu.RLock()
	defer m.mu.RUnlock()
	made := make(map[string]bool)
	note := func(p string) {
		if names[p[strings.LastIndexByte(p, '/')+1:]] {
			made[p] = true
		}
	}
	for _, r := range m.tasks {
		for _, p := range r.Outputs {
			note(p)
		}
		for _, b := range r.ByProducts {
			note(b.Path)
		}
	}
	return made
}

// MadeBy returns a function that reports whether one of tasks has made a path in its last run. It reads the
// history at its first call, and is safe for concurrent use.
func (m *History) MadeBy(tasks []*plan.Task) func(path string) bool {
	made := sync.OnceValue(func() map[string]bool {
		made := make(map[string]bool)
		for _, t := range tasks {
			for _, p := range m.Of(t).Outputs {
				made[p] = true
			}
		}
		return made
	})
	return func(path string) bool { return made()[path] }
}

// Change changes the last run of the task with a place (plan.Task.Place), an empty one if there is none.
func (m *History) Change(place string, change func(*LastRun)) {
	old, r := m.tasks[place], &LastRun{}
	if old != nil {
		*r = *old
	}
	if change(r); r.equal(old) {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.count(place, old, -1)
	m.count(place, r, 1)
	m.tasks[place] = r
	m.latest = max(m.latest, r.At)
	m.changed[place] = true
}

func (m *History) count(id string, r *LastRun, n int) {
	if r != nil && len(r.Reads) > 0 {
		m.reading += n
	}
	if r != nil && len(r.ByProducts) > 0 {
		dish, _, _ := strings.Cut(id, "\x00")
		m.byProducts[dish] += n
	}
}

// Reads returns LastRun.Reads of all tasks that have any, by plan.Task.Place; nil for none.
func (m *History) Reads() map[string][]string {
	if m.reading == 0 {
		return nil
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	reads := make(map[string][]string, m.reading)
	for place, r := range m.tasks {
		if len(r.Reads) > 0 {
			reads[place] = r.Reads
		}
	}
	return reads
}

// Keep replaces the last run of t.
func (m *History) Keep(t *plan.Task, r *LastRun) {
	m.Change(t.Place(), func(last *LastRun) { *last = *r })
}

// Leave notes that a failed execution or restore left files among the outputs of the task with a place.
func (m *History) Leave(place string, left []string) {
	m.Change(place, func(r *LastRun) {
		r.Left = slices.Compact(slices.Sorted(slices.Values(slices.Concat(r.Left, left))))
	})
}

// Fail records the message of the failed last execution of t: its first line, cut to maxFailed bytes.
func (m *History) Fail(t *plan.Task, message string) {
	m.Change(t.Place(), func(r *LastRun) {
		r.Failed, _, _ = strings.Cut(message, "\n")
		r.Failed = strings.ToValidUTF8(r.Failed[:min(len(r.Failed), maxFailed)], "")
	})
}

// Executed records an execution of ev, good or not, that has ended.
func (m *History) Executed(ev *Evaluation, end time.Time) {
	m.Change(ev.Task.Place(), func(r *LastRun) { r.Ran, r.At, r.Sources = ev.Key, end.UnixNano(), ev.Sources })
}

// Latest returns when the last execution of any task ended, in nanoseconds since 1970; 0 for none.
func (m *History) Latest() int64 { return m.latest }

// maxFailed is the largest size of LastRun.Failed in bytes.
const maxFailed = 200

func (r *LastRun) equal(o *LastRun) bool {
	return o != nil && r.Key == o.Key && r.Unstored == o.Unstored && r.Duration == o.Duration &&
		slices.Equal(r.Outputs, o.Outputs) && slices.Equal(r.ByProducts, o.ByProducts) && slices.Equal(r.Found, o.Found) && slices.Equal(r.Discovered, o.Discovered) &&
		r.Observed == o.Observed && r.Basis == o.Basis && r.Unobservable == o.Unobservable && r.Unseen == o.Unseen && slices.Equal(r.Reads, o.Reads) && slices.Equal(r.Left, o.Left) &&
		slices.Equal(r.Undeclared, o.Undeclared) && slices.Equal(r.Warned, o.Warned) && r.Failed == o.Failed && r.Ran == o.Ran && r.At == o.At && r.Sources == o.Sources
}

// lockWait is the longest time that Save waits for other processes that save.
const lockWait = 2 * time.Second

var errLocked = fmt.Errorf("another process has had it for more than %v", lockWait)

// Save writes the changed runs, and keeps those that another bento has written since.
func (m *History) Save(ctx context.Context) error {
	if len(m.changed) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, lockWait, errLocked)
	defer cancel()
	unlock, err := m.state.Lock(ctx, historyLock, nil)
	if err != nil {
		return err
	}
	defer unlock()
	now := loadTasks(m.state)
	for id := range m.changed {
		now[id] = m.tasks[id]
	}
	clear(m.changed)
	return m.state.Store(historyFile, historyVersion, encodeTasks(now))
}

// usualRunSize is the size of most encoded runs in bytes.
const usualRunSize = 128

func encodeTasks(tasks map[string]*LastRun) []byte {
	var w pack.Writer
	w.Grow(len(tasks) * usualRunSize)
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
		writeDiscovered(&w, r.Discovered)
		w.Uint(uint64(r.Observed))
		w.Raw(r.Basis[:])
		w.Byte(flag(r.Unobservable))
		w.String(r.Unseen)
		w.Strings(r.Reads)
		w.Strings(r.Left)
		w.Strings(r.Undeclared)
		w.Strings(r.Warned)
		w.Raw(r.Ran[:])
		w.Uint(uint64(max(0, r.At)))
		w.Raw(r.Sources[:])
		w.String(r.Failed)
	}
	return w.Payload()
}

// loadTasks reads the history. An unreadable one is empty.
func loadTasks(dir *state.Dir) map[string]*LastRun {
	payload, err := dir.Load(historyFile, historyVersion)
	if err == nil {
		var tasks map[string]*LastRun
		if tasks, err = decodeTasks(payload); err == nil {
			return tasks
		}
	}
	return make(map[string]*LastRun)
}

func decodeTasks(payload []byte) (map[string]*LastRun, error) {
	r := pack.NewReader(payload)
	n := r.Count(40)
	tasks, runs := make(map[string]*LastRun, n), make([]LastRun, n) // one allocation for all
	for i := range runs {
		id, t := r.String(), &runs[i]
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
		t.Discovered = readDiscovered(r)
		t.Observed = int(r.Uint())
		copy(t.Basis[:], r.Raw(32))
		t.Unobservable = r.Byte() != 0
		t.Unseen = r.String()
		t.Reads = r.Strings()
		t.Left = r.Strings()
		t.Undeclared = r.Strings()
		t.Warned = r.Strings()
		copy(t.Ran[:], r.Raw(32))
		t.At = int64(r.Uint())
		copy(t.Sources[:], r.Raw(32))
		t.Failed = r.String()
		tasks[id] = t
	}
	return tasks, r.End()
}
