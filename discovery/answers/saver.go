package answers

import (
	"bytes"
	"cmp"
	"iter"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/clone"
	"github.com/bentobuild/bento/internal/pack"
	"github.com/bentobuild/bento/internal/tree"
)

// Saver writes the answers of a Cache.
type Saver struct {
	saved
	m     *Cache
	lists []depends // of the answers that were used
	paths []seen    // that they depend on
	rank  []int     // of each of paths, by its path and spot

	at     map[seen]int // in Spots
	stamps map[tree.Stamp]int
	scopes map[string][]int // in Scopes, by their directories
}

// depends are the paths that an answer depends on.
type depends struct {
	question
	*answered
	on []int // in paths
}

// pathState is what an answer saw at a path.
type pathState struct {
	path string
	adapters.State
}

// seen is a path with its trace. The spot of an absent path with a stamp is the directory with it.
type seen struct {
	path string
	spot
	trace
}

// Look looks at everything that the answers of this process depend on, and returns what writes them
// without another look at the workspace: nil when none is new. Nobody asks meanwhile or later, so it
// takes no lock.
func (m *Cache) Look() *Saver {
	if m == nil || !m.news && len(m.asked) == len(m.detected) && !m.anyUnused() {
		return nil
	}
	s := &Saver{saved: saved{Basis: m.o.Basis}, m: m}
	count := 0
	for _, a := range m.answered {
		count += len(a.reads)
	}
	known := make(map[pathState]int, count/2) // many answers share paths
	for q, a := range m.answered {
		if !a.used {
			continue
		}
		if on, ok := s.look(a, known); ok {
			s.lists = append(s.lists, depends{q, a, on})
		}
	}
	return s
}

func (m *Cache) anyUnused() bool {
	for _, a := range m.answered {
		if !a.used {
			return true
		}
	}
	return false
}

// look adds the paths that an answer depends on, unless they are known; ok is false when one of them
// changed meanwhile.
func (s *Saver) look(a *answered, known map[pathState]int) (on []int, ok bool) {
	on = make([]int, 0, len(a.reads)+len(a.from))
	for path, state := range s.m.pathsOf(a) {
		x := pathState{path, state}
		n, had := known[x]
		if !had {
			n = len(s.paths)
			known[x] = n
			s.paths = append(s.paths, s.m.lookAt(path, state))
		}
		if k := s.paths[n].Kind; k == adapters.Unseen || k == adapters.Unsteady {
			return nil, false
		}
		on = append(on, n)
	}
	return on, true
}

// pathsOf yields the paths that an answer depends on, and what it saw there.
func (m *Cache) pathsOf(a *answered) iter.Seq2[string, adapters.State] {
	return func(yield func(string, adapters.State) bool) {
		for path, state := range a.reads {
			if !yield(path, state) {
				return
			}
		}
		for _, n := range a.from {
			before := m.saved.trace(n)
			for path := range m.saved.Spots[n].paths() {
				if !yield(path, before.State) {
					return
				}
			}
		}
	}
}

func (m *Cache) lookAt(path string, state adapters.State) seen {
	t := seen{path: path, spot: spot{Path: path}, trace: m.looker.traced(path, state)}
	if t.Kind == adapters.Absent && t.Around != (tree.Stamp{}) {
		_, first := m.looker.nearest(path)
		t.Path = clone.Join(m.o.Tree.Root(), filepath.FromSlash(parent(first)))
	}
	if state.Sum != [32]byte{} && state.Kind == adapters.Regular {
		m.o.Source.State(path, true) // the index learns the digest, and the next invocation reads nothing
	}
	return t
}

// Store writes the answers if they are not those of the file. When writing fails, adapters are asked
// again next time.
func (s *Saver) Store() {
	if s == nil {
		return
	}
	s.collect()
	w := pack.Writer{}
	w.Add(s.saved)
	if !bytes.Equal(w.Payload(), s.m.payload) {
		_ = s.m.o.State.Store(memoryFile, memoryVersion, w.Payload())
	}
}

// collect makes the content of the file.
func (s *Saver) collect() {
	s.at, s.stamps, s.scopes = make(map[seen]int, len(s.paths)), make(map[tree.Stamp]int), make(map[string][]int)
	s.sort()
	slices.SortFunc(s.lists, func(a, b depends) int { return a.compare(b.question) })
	for _, l := range s.lists {
		s.Answers = append(s.Answers, savedAnswer{l.question, l.withoutReads(), s.scope(l.Scope), s.reads(l.on)})
	}
	for _, q := range slices.SortedFunc(maps.Keys(s.m.detected), question.compare) {
		if sum, known := s.m.marksOf(q.Dir); known && s.m.asked[q] {
			s.Detected = append(s.Detected, savedDetect{q, s.m.detected[q], sum})
		}
	}
}

// withoutReads returns the answer without the paths, which are saved separately.
func (a Answer) withoutReads() Answer {
	a.Tasks.Reads, a.Links.Reads, a.Scope.Reads, a.Lock.Reads, a.Nested.Reads = nil, nil, nil, nil, nil
	return a
}

// sort ranks the paths, so that the lists of answers are sorted by numbers.
func (s *Saver) sort() {
	order := make([]int, len(s.paths))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		x, y := &s.paths[a], &s.paths[b]
		return cmp.Or(strings.Compare(x.around(), y.around()), strings.Compare(x.path, y.path), cmp.Compare(a, b))
	})
	s.rank = make([]int, len(order))
	for rank, i := range order {
		s.rank[i] = rank
	}
}

// around returns the directory whose stamp says that the path is absent, "" if none does.
func (x *seen) around() string {
	if x.spot.Path == x.path {
		return ""
	}
	return x.spot.Path
}

// reads adds the spots of paths, and returns their indices in Spots. Absent names around one directory
// are one spot.
func (s *Saver) reads(on []int) (reads []int) {
	slices.SortFunc(on, func(a, b int) int { return cmp.Compare(s.rank[a], s.rank[b]) })
	for i := 0; i < len(on); {
		x := s.paths[on[i]]
		near := x.around()
		if i++; near != "" {
			var names strings.Builder
			x.addName(&names)
			for ; i < len(on) && s.paths[on[i]].around() == near && s.paths[on[i]].trace == x.trace; i++ {
				s.paths[on[i]].addName(&names)
			}
			x.Absent = names.String()
		}
		x.path = ""
		reads = append(reads, s.put(x))
	}
	return reads
}

// addName adds the path, relative to its spot.
func (x *seen) addName(names *strings.Builder) {
	names.WriteString(strings.TrimPrefix(x.path[len(x.spot.Path):], "/"))
	names.WriteByte(0)
}

// put returns the index of a spot in Spots.
func (s *Saver) put(x seen) int {
	n, known := s.at[x]
	if !known {
		n = len(s.Spots)
		s.at[x] = n
		s.Spots, s.Traces = append(s.Spots, x.spot), append(s.Traces, s.save(x.trace))
	}
	return n
}

func (s *Saver) save(t trace) savedTrace {
	out := savedTrace{Kind: t.Kind}
	if t.Sum != [32]byte{} {
		out.Sum = string(t.Sum[:])
	}
	if t.Around != (tree.Stamp{}) {
		n, seen := s.stamps[t.Around]
		if !seen {
			s.Stamps = append(s.Stamps, t.Around)
			n = len(s.Stamps)
			s.stamps[t.Around] = n
		}
		out.Around = n
	}
	return out
}

// scope returns the index of a scope in Scopes.
func (s *Saver) scope(scope adapters.Scope) int {
	scope.Reads = nil
	for _, n := range s.scopes[scope.Dir] {
		if reflect.DeepEqual(s.Scopes[n], scope) {
			return n
		}
	}
	n := len(s.Scopes)
	s.Scopes = append(s.Scopes, scope)
	s.scopes[scope.Dir] = append(s.scopes[scope.Dir], n)
	return n
}

func (q question) compare(o question) int {
	return cmp.Or(strings.Compare(q.Dir, o.Dir), strings.Compare(q.Adapter, o.Adapter))
}
