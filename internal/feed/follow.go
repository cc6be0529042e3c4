package feed

import (
	"bytes"
	"cmp"
	"encoding/json"
	"os"
	"slices"
	"time"

	"github.com/bentobuild/bento/internal/run"
	"github.com/bentobuild/bento/internal/state"
)

// Bounds of what is kept of the files: they may be damaged.
const (
	maxLine  = 64 << 10
	maxRows  = 100_000 // of a run
	maxEnded = 4       // runs that have ended
	maxRuns  = 64
)

// The states of a run.
const (
	Active = "running"
	Ended  = "ended"
	Killed = "killed" // its process has died
)

// Run is what is known of a run.
type Run struct {
	ID          string
	Command     string
	StartedAt   time.Time
	State       string // Active, Ended or Killed
	Tasks       int
	Hits        int // that have no row
	Skipped     int // likewise
	DurationMS  int64
	Interrupted bool

	Version int64 // of the last change
	rows    map[string]*versioned
}

type versioned struct {
	Row
	version int64
}

// RowsSince lists the rows that have changed after a version, by their start.
func (r *Run) RowsSince(version int64) (rows []Row) {
	for _, row := range r.rows {
		if row.version > version {
			rows = append(rows, row.Row)
		}
	}
	slices.SortFunc(rows, func(a, b Row) int { return cmp.Or(cmp.Compare(a.StartMS, b.StartMS), cmp.Compare(a.ID, b.ID)) })
	return rows
}

// Follower reads the files of a workspace.
type Follower struct {
	state   *state.Dir
	files   map[string]*followed // only Look uses it
	runs    map[string]*Run      // those of Look that Add has added
	version int64
}

// followed is a file that is read.
type followed struct {
	file *os.File // nil after its end
	rest []byte   // the start of a line whose end is not written yet
	over bool     // its last line was read, or it is damaged
}

// Found is what a Look has found in a file.
type Found struct {
	id    string
	lines []line
	state string // Active, or how the run has ended
}

// Follow returns a Follower for the state of a workspace. The caller calls Close after the last Look.
func Follow(st *state.Dir) *Follower {
	return &Follower{state: st, files: make(map[string]*followed), runs: make(map[string]*Run)}
}

// Close closes the files.
func (f *Follower) Close() {
	for _, file := range f.files {
		file.close()
	}
}

func (f *followed) close() {
	if f.file != nil {
		f.file.Close()
		f.file = nil
	}
}

// Look reads what is new in the files. Only one goroutine calls it; it may do so during other methods.
func (f *Follower) Look() (list []Found) {
	names := f.state.Claims(dir)
	for _, name := range names {
		if f.files[name] == nil && len(f.files) < maxRuns {
			if file, err := f.state.OpenFile(dir + "/" + name); err == nil {
				f.files[name] = &followed{file: file}
			}
		}
	}
	for name, file := range f.files {
		switch {
		case file.file != nil:
			held := f.state.IsHeld(dir, name) // before the read, which then has all that a dead process has written
			found := Found{id: name, state: Active, lines: file.read()}
			if file.over || !held {
				file.close()
				if found.state = Ended; !file.over {
					found.state = Killed
				}
			}
			if len(found.lines) > 0 || found.state != Active {
				list = append(list, found)
			}
		case !slices.Contains(names, name):
			delete(f.files, name)
		}
	}
	return list
}

// read reads the lines that are new. It leaves out those that it does not know.
func (f *followed) read() (lines []line) {
	buf := make([]byte, 64<<10)
	for !f.over {
		n, err := f.file.Read(buf)
		f.rest = append(f.rest, buf[:n]...)
		for !f.over {
			text, rest, whole := bytes.Cut(f.rest, []byte("\n"))
			if !whole {
				break
			}
			var l line
			if json.Unmarshal(text, &l) == nil {
				lines = append(lines, l)
			}
			f.rest, f.over = rest, l.End != nil
		}
		f.over = f.over || len(f.rest) > maxLine
		if n == 0 || err != nil {
			break
		}
	}
	f.rest = slices.Clone(f.rest)
	return lines
}

// Add adds what a Look has found. It reports whether that changes something, and whether a run has ended.
func (f *Follower) Add(list []Found) (changed, ended bool) {
	next := f.version + 1
	for _, found := range list {
		r := f.runs[found.id]
		if r == nil {
			r = &Run{ID: found.id, rows: make(map[string]*versioned)}
			f.runs[found.id] = r
		}
		for _, l := range found.lines {
			r.add(l, next)
		}
		r.State, r.Version, changed = found.state, next, true
		ended = ended || r.State != Active
	}
	if changed {
		f.version = next
		f.forget()
	}
	return changed, ended
}

// forget forgets all but the last runs that have ended.
func (f *Follower) forget() {
	var over []*Run
	for _, r := range f.runs {
		if r.State != Active {
			over = append(over, r)
		}
	}
	slices.SortFunc(over, func(a, b *Run) int { return b.StartedAt.Compare(a.StartedAt) })
	for _, r := range over[min(len(over), maxEnded):] {
		delete(f.runs, r.ID)
	}
}

// Runs lists the runs that are running, and the last ones that have ended, by their start.
func (f *Follower) Runs() (runs []*Run) {
	for _, r := range f.runs {
		if !r.StartedAt.IsZero() {
			runs = append(runs, r)
		}
	}
	slices.SortFunc(runs, func(a, b *Run) int { return cmp.Or(a.StartedAt.Compare(b.StartedAt), cmp.Compare(a.ID, b.ID)) })
	return runs
}

// Version returns the version of the last change.
func (f *Follower) Version() int64 { return f.version }

// Executed reports whether the newest run that has a row for a task executes it, or has done so.
func (f *Follower) Executed(id string) bool {
	for _, r := range slices.Backward(f.Runs()) {
		if row := r.rows[id]; row != nil {
			return row.Outcome != string(run.CacheHit)
		}
	}
	return false
}

// add adds what a line says.
func (r *Run) add(l line, version int64) {
	switch {
	case l.Run != nil && r.StartedAt.IsZero():
		r.Command, r.StartedAt, r.Tasks = l.Run.Command, l.Run.Started, l.Run.Tasks
	case l.Row != nil && (len(r.rows) < maxRows || r.rows[l.Row.ID] != nil):
		r.rows[l.Row.ID] = &versioned{*l.Row, version}
	case l.Pass != nil:
		r.Hits, r.Skipped = l.Pass.Hits, l.Pass.Skipped
	case l.End != nil:
		r.DurationMS, r.Interrupted = l.End.DurationMS, l.End.Interrupted
	}
}
