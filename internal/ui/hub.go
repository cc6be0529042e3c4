package ui

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/bentobuild/bento/internal/feed"
	"github.com/bentobuild/bento/internal/report/page"
	"github.com/bentobuild/bento/internal/state"
)

// lookTime is the time between two looks at the runs while a page is open.
const lookTime = 100 * time.Millisecond

// hub has what the pages show. Pages are not sent each change: they ask for what is new since they asked last, so that a
// slow one costs nothing.
type hub struct {
	state *state.Dir
	again chan struct{} // has a value if the workspace is to be evaluated again

	mu      sync.Mutex
	changed chan struct{} // closed at each change, then replaced
	viewers int
	arrived chan struct{} // has a value if a page has been opened
	runs    *feed.Follower
	data    []byte          // in JSON, nil before the first evaluation
	tasks   map[string]Task // of data, by id
	loads   int             // evaluations so far
	busy    bool            // an evaluation lasts
	problem string          // why the last one failed
}

func newHub(st *state.Dir) *hub {
	h := &hub{state: st, again: make(chan struct{}, 1), changed: make(chan struct{}), arrived: make(chan struct{}, 1), runs: feed.Follow(st)}
	h.refresh()
	return h
}

// signal sends to a channel, unless it is full.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// refresh lets the workspace be evaluated again.
func (h *hub) refresh() { signal(h.again) }

// load evaluates the workspace whenever that is asked for, until ctx is done.
func (h *hub) load(ctx context.Context, load func(context.Context) (page.Data, error)) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-h.again:
		}
		h.change(func() { h.busy = true })
		data, err := load(ctx)
		h.change(func() {
			h.busy = false
			h.loads++
			if err != nil {
				h.problem = err.Error()
				return
			}
			h.problem, h.data, h.tasks = "", encode(data), tasksOf(data)
		})
	}
}

func tasksOf(d page.Data) map[string]Task {
	tasks := make(map[string]Task)
	for _, dish := range d.Dishes {
		for _, t := range dish.Tasks {
			tasks[dish.Name+":"+t.Name] = Task{Dish: dish.Name, Name: t.Name, Place: t.Place, Key: t.Key}
		}
	}
	return tasks
}

// change changes the hub and wakes the pages.
func (h *hub) change(do func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	do()
	close(h.changed)
	h.changed = make(chan struct{})
}

// follow looks at the runs while a page is open, until ctx is done. The end of a run lets the workspace be evaluated.
func (h *hub) follow(ctx context.Context) {
	defer h.runs.Close()
	ticker := time.NewTicker(lookTime)
	defer ticker.Stop()
	stamps := h.stamps()
	for {
		wait := (<-chan time.Time)(ticker.C)
		if h.isUnseen() {
			wait = nil
		}
		select {
		case <-ctx.Done():
			return
		case <-h.arrived:
		case <-wait:
		}
		if now := h.stamps(); now != stamps {
			stamps = now
			h.refresh()
		}
		h.look()
	}
}

// stamps returns the stamps of the documents of the last runs.
func (h *hub) stamps() [2]state.Stamp {
	return [2]state.Stamp{h.state.Stamp("last-run"), h.state.Stamp("last-hits")}
}

// look reads what is new of the runs.
func (h *hub) look() {
	found := h.runs.Look()
	h.mu.Lock()
	defer h.mu.Unlock()
	changed, ended := h.runs.Add(found)
	if changed {
		close(h.changed)
		h.changed = make(chan struct{})
	}
	if ended {
		h.refresh()
	}
}

func (h *hub) isUnseen() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.viewers == 0
}

// enter counts a page that hears what happens; the caller calls leave. The first one after a pause sees the workspace as
// it is then.
func (h *hub) enter() (leave func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.viewers++; h.viewers == 1 && h.loads > 0 {
		h.refresh()
	}
	signal(h.arrived)
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.viewers--
	}
}

// loaded returns the evaluated workspace in JSON, nil if there is none yet.
func (h *hub) loaded() []byte {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.data
}

// task finds a task by its id, and reports whether its last log is that of an execution that the evaluation does not know.
func (h *hub) task(id string) (t Task, executed, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	t, ok = h.tasks[id]
	return t, h.runs.Executed(id), ok
}

// seen is what a page has heard.
type seen struct {
	loads   int
	busy    bool
	started bool
	version int64
	runs    []string // ids
}

// status is the message about the evaluation.
type status struct {
	Loads   int    `json:"loads"`
	Ready   bool   `json:"ready"` // there is data
	Busy    bool   `json:"busy"`
	Problem string `json:"problem,omitempty"`
}

// runNews is the message about a run: what has changed.
type runNews struct {
	ID          string     `json:"id"`
	Command     string     `json:"command"`
	StartedAt   string     `json:"started_at"`
	State       string     `json:"state"`
	Tasks       int        `json:"tasks"`
	Hits        int        `json:"hits"`
	Skipped     int        `json:"skipped"`
	DurationMS  int64      `json:"duration_ms"`
	Interrupted bool       `json:"interrupted,omitempty"`
	Rows        []feed.Row `json:"rows"`
}

// news is a message of the stream.
type news struct {
	event string
	value any
}

// since returns what is new for a page, and a channel that is closed at the next change.
func (h *hub) since(last *seen) (list []news, changed <-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	runs := h.runs.Runs()
	ids := make([]string, len(runs))
	for i, r := range runs {
		ids[i] = r.ID
		switch {
		case !slices.Contains(last.runs, r.ID):
			list = append(list, newsOf(r, 0)...)
		case r.Version > last.version:
			list = append(list, newsOf(r, last.version)...)
		}
	}
	if !slices.Equal(ids, last.runs) {
		list = append(list, news{"runs", ids})
	}
	if !last.started || last.loads != h.loads || last.busy != h.busy {
		list = append(list, news{"status", status{h.loads, h.data != nil, h.busy, h.problem}})
	}
	*last = seen{loads: h.loads, busy: h.busy, started: true, version: h.runs.Version(), runs: ids}
	return list, h.changed
}

// maxRows bounds the rows of a message.
const maxRows = 2000

func newsOf(r *feed.Run, version int64) (list []news) {
	rows := r.RowsSince(version)
	for {
		some := rows[:min(len(rows), maxRows)]
		rows = rows[len(some):]
		list = append(list, news{"run", runNews{
			ID: r.ID, Command: r.Command, StartedAt: r.StartedAt.UTC().Format(time.RFC3339Nano), State: r.State, Tasks: r.Tasks, Hits: r.Hits,
			Skipped: r.Skipped, DurationMS: r.DurationMS, Interrupted: r.Interrupted, Rows: append([]feed.Row{}, some...),
		}})
		if len(rows) == 0 {
			return list
		}
	}
}
