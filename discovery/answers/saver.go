package answers

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
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

// seen is a path with its trace. The spot of an absent path with a stamp is the directory with it.
type seen struct {
	path string
	spot
	trace
}

// Look looks at all paths that the answers of this process depend on, and returns a Saver that writes them
// without another look at the workspace. It returns nil if no answer is new. No caller asks for answers
// meanwhile or later, so Look takes no lock.
func (m *Cache) Look() *Saver {
	if m == nil || !m.news && len(m.asked) == len(m.detected) && !m.anyUnused() {
		return nil
	}
	count := 0
	for _, a := range m.answered {
		for _, reads := range a.reads {
			count += len(reads)
		}
	}
	count /= 2 // many answers share paths
	s := &Saver{saved: saved{Basis: m.o.Basis}, m: m, paths: make([]seen, 0, count)}
	l := pathLooker{Saver: s, numbers: make(map[string]int, count), states: make([]pathState, 0, count)}
	m.looker.dirs = make(map[string]walkedDir)
	for q, a := range m.answered {
		if !a.used {
			continue
		}
		if on, ok := l.look(a); ok {
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

// Store puts the answers into Options.Saved, which the caller saves.
func (s *Saver) Store() {
	if s != nil {
		s.collect()
		s.m.o.Saved.Set(part, s.saved)
	}
}

// collect makes the saved answers.
func (s *Saver) collect() {
	s.at, s.stamps, s.scopes = make(map[seen]int, len(s.paths)), make(map[tree.Stamp]int), make(map[string][]int)
	s.sort()
	slices.SortFunc(s.lists, func(a, b depends) int { return a.compare(b.question) })
	lists := make([][]int, len(s.lists))
	for i, l := range s.lists {
		lists[i] = s.reads(l.on)
	}
	s.Groups = group(lists, len(s.Spots))
	for i, l := range s.lists {
		s.Answers = append(s.Answers, savedAnswer{l.question, l.withoutReads(), s.scope(l.Scope), lists[i]})
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
	groups := make(map[string][]int) // by around
	for i := range s.paths {
		near := s.paths[i].around()
		groups[near] = append(groups[near], i)
	}
	s.rank = make([]int, len(s.paths))
	rank := 0
	for _, near := range slices.Sorted(maps.Keys(groups)) {
		group := groups[near]
		slices.SortFunc(group, func(a, b int) int {
			return cmp.Or(strings.Compare(s.paths[a].path[len(near):], s.paths[b].path[len(near):]), cmp.Compare(a, b))
		})
		for _, i := range group {
			s.rank[i] = rank
			rank++
		}
	}
}

// around returns the directory whose stamp shows that the path is absent, "" for none.
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
