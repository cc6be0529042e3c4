package record

import (
	"iter"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/key"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/tree"
)

// listing is the list of the files at the outputs of a task at one time. It is valid while its
// directories have the stamps of that time. Executions share a listing while nothing may write there,
// and do not check it one by one. It is checked once for all of them: before something begins that
// may write there, and before their results are stored. If it is invalid then, none of the results is
// stored.
type listing struct {
	entries []tree.Entry // files and links, by path
	dirs    []tree.DirStamp
	quiet   bool // see isQuiet
	closed  bool // an execution or restore that may write there has begun; Recorder.listings guards it
	// verdict reports whether the listing was valid when it was closed.
	verdict func() bool
}

// listings are the last listings by dish and task, and the places where something may write now.
type listings struct {
	mu     sync.Mutex
	last   map[string]map[*plan.Task]*listing // by the path of the dish
	around map[string]bool                    // the directories around dishes; nil before the first listing
	busy   map[string]int                     // by path of a dish: the running executions and restores there
	begun  map[string]int                     // by path of a dish: the number of those that have begun or ended
	failed atomic.Bool                        // a verdict was that a listing is invalid
}

// newDir is the age at which the times of a directory show every later change: the clocks of file
// systems are coarse.
const newDir = 100 * time.Millisecond

// at returns the listing of the outputs of t: of now, or, if shared, of a time since which nothing
// wrote there.
func (r *Recorder) at(t *plan.Task) (l *listing, shared bool, err error) {
	s := &r.listings
	s.mu.Lock()
	l, turn := s.last[t.Dish.Path][t], s.turn(t)
	if shared = l != nil && s.shares(t, l); shared {
		s.mu.Unlock()
		return l, true, nil
	}
	s.mu.Unlock()
	if l == nil || !l.holds(r.Tree) {
		if l, err = r.list(t); err != nil {
			return nil, false, err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.turn(t) != turn {
		return l, false, nil // a command may have written there since
	}
	if s.last == nil {
		s.last, s.around = make(map[string]map[*plan.Task]*listing), allAround(r.Plan.Workspace.Dishes)
	}
	if l.quiet = l.quiet && !s.around[t.Dish.Path]; l.dirs != nil { // tasks of dishes inside write there too
		s.keep(t, l)
	}
	return l, s.shares(t, l), nil
}

// keep makes l the last listing of the outputs of t.
func (s *listings) keep(t *plan.Task, l *listing) {
	dish := t.Dish.Path
	if s.last[dish] == nil {
		s.last[dish] = make(map[*plan.Task]*listing)
	}
	s.last[dish][t] = l
}

// allAround returns the directories around dishes.
func allAround(dishes []*dish.Dish) map[string]bool {
	all := make(map[string]bool)
	for _, d := range dishes {
		for dir := range around(d.Path) {
			all[dir] = true
		}
	}
	return all
}

// around yields the directories around a dish, "." last.
func around(dish string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for dish != "." {
			if dish = path.Dir(dish); !yield(dish) {
				return
			}
		}
	}
}

// list lists the outputs of t. The listing has no directories if their times do not show every
// later change.
func (r *Recorder) list(t *plan.Task) (*listing, error) {
	set, err := OutputSet(t)
	if err != nil {
		return nil, err
	}
	begun := time.Now().Add(-newDir).UnixNano()
	all, err := r.Tree.ExpandAnyway(set)
	if err != nil {
		return nil, err
	}
	l := &listing{dirs: stamps(r.Tree, set.Roots(), all)}
	l.entries = slices.DeleteFunc(all, func(e tree.Entry) bool { return e.Kind != tree.File && e.Kind != tree.Link })
	if slices.ContainsFunc(l.dirs, func(d tree.DirStamp) bool { return max(d.Mtime, d.Ctime) >= begun }) {
		return &listing{entries: l.entries}, nil
	}
	l.quiet = r.isQuiet(t, l)
	l.verdict = sync.OnceValue(func() bool {
		ok := l.holds(r.Tree)
		if !ok {
			r.listings.failed.Store(true)
		}
		return ok
	})
	return l, nil
}

// isQuiet reports whether only tasks have a reason to write in the directories of a listing: git
// ignores the directories, and they are below the dish. Tools with a mutex also write in the
// directories of each other.
func (r *Recorder) isQuiet(t *plan.Task, l *listing) bool {
	return t.Mutex == "" && !slices.ContainsFunc(l.dirs, func(d tree.DirStamp) bool {
		return d.Path == t.Dish.Path || !key.Inside(d.Path, t.Dish.Path) || r.Tree.Walked(d.Path)
	})
}

// stamps returns the stamps of roots, where a listing begins, and of the directories of entries.
func stamps(t *tree.Tree, roots []string, entries []tree.Entry) (list []tree.DirStamp) {
	seen := make(map[string]bool)
	add := func(dir string) {
		if !seen[dir] {
			seen[dir] = true
			e, _ := t.Stat(dir)
			list = append(list, tree.DirStamp{Path: dir, Stamp: e.Stamp()})
		}
	}
	for _, p := range roots {
		add(p)
	}
	for _, e := range entries {
		if i := strings.LastIndexByte(e.Path, '/'); i > 0 {
			add(e.Path[:i])
		}
	}
	return list
}

// holds reports whether the directories have not changed.
func (l *listing) holds(t *tree.Tree) bool {
	return !slices.ContainsFunc(l.dirs, func(d tree.DirStamp) bool {
		now, _ := t.Stat(d.Path)
		return now.Stamp() != d.Stamp
	})
}

// difference returns the change of a listing that is invalid.
func (l *listing) difference() difference { return difference{path: l.dirs[0].Path, equal: true} }

// shares reports whether executions may share a listing of the outputs of t: no task of its dish or
// of a dish around it may write now.
func (s *listings) shares(t *plan.Task, l *listing) bool {
	return l.quiet && !l.closed && s.sum(s.busy, t) == 0
}

// turn returns a number that changes when something that may write at the outputs of t begins or
// ends.
func (s *listings) turn(t *plan.Task) int { return s.sum(s.begun, t) }

// sum returns the sum of counts for the dish of t and the directories around it.
func (s *listings) sum(counts map[string]int, t *plan.Task) int {
	n := counts[t.Dish.Path]
	for dir := range around(t.Dish.Path) {
		n += counts[dir]
	}
	return n
}

// Writing notes that t may write until done is called, because it is executed or restored. No
// execution shares a listing of files that t may write. Listings that are shared already are checked
// first.
func (r *Recorder) Writing(t *plan.Task) (done func()) {
	s, dish := &r.listings, t.Dish.Path
	if key.MakesOutside(t) || len(t.Rewrites) > 0 {
		dish = "."
	}
	s.mu.Lock()
	if s.busy == nil {
		s.busy, s.begun = make(map[string]int), make(map[string]int)
	}
	s.busy[dish]++
	s.begun[dish]++
	closed := s.close(dish)
	s.mu.Unlock()
	for _, l := range closed {
		l.verdict()
	}
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.busy[dish]--
		s.begun[dish]++
	}
}

// close closes the listings of the dishes in a directory, and returns those that executions may
// share.
func (s *listings) close(dir string) (list []*listing) {
	one := func(dish string) {
		for _, l := range s.last[dish] {
			if l.closed = true; l.quiet {
				list = append(list, l)
			}
		}
		delete(s.last, dish)
	}
	one(dir)
	if s.around[dir] {
		for dish := range s.last {
			if key.Inside(dish, dir) {
				one(dish)
			}
		}
	}
	return list
}

// isClosed reports whether a listing was closed.
func (r *Recorder) isClosed(l *listing) bool {
	r.listings.mu.Lock()
	defer r.listings.mu.Unlock()
	return l.closed
}

// held reports whether the listing of the outputs of t was valid until it was closed or, if it is
// open, is valid now. It closes an invalid listing.
func (r *Recorder) held(t *plan.Task, l *listing) bool {
	if !r.isClosed(l) && l.holds(r.Tree) {
		return true
	}
	s := &r.listings
	s.mu.Lock()
	if l.closed = true; s.last[t.Dish.Path][t] == l {
		delete(s.last[t.Dish.Path], t)
	}
	s.mu.Unlock()
	return l.verdict() // after Writing closed it, its directories may have changed, which is no fault
}

// IsInvalid reports whether a listing that the execution shared is known to be invalid.
func (x *Execution) IsInvalid() bool {
	return x.listings.failed.Load() && slices.ContainsFunc(x.before.shared, func(l *listing) bool {
		return l != nil && x.isClosed(l) && !l.verdict()
	})
}
