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
	"github.com/bentobuild/bento/internal/pack"
	"github.com/bentobuild/bento/internal/state"
	"github.com/bentobuild/bento/internal/tree"
)

// The answers are one file in the workspace's state.
const (
	memoryFile    = "answers"
	memoryVersion = 9
)

// saved is the content of the file.
type saved struct {
	Basis    string
	Spots    []spot           // that answers depend on
	Traces   []savedTrace     // by index of Spots
	Stamps   []tree.Stamp     // referred to by traces
	Scopes   []adapters.Scope // referred to by answers; members of a workspace share one
	Detected []savedDetect
	Answers  []savedAnswer
}

// spot is a path, or several absent names around one directory.
type spot struct {
	Path   string
	Absent string // relative to Path, each followed by a zero byte; "" for Path itself
}

// savedTrace is a saved trace.
type savedTrace struct {
	Kind   adapters.Kind
	Sum    string // "" for a zero sum
	Around int    // index in Stamps plus one, 0 for none
}

type savedDetect struct {
	Question question
	Yes      bool
	Marks    [32]byte // of the directory
}

type savedAnswer struct {
	Question question
	Answer   Answer
	Scope    int   // index in Scopes
	Reads    []int // indices in Spots
}

func load(dir *state.Dir) (s saved, payload []byte, ok bool) {
	payload, err := dir.Load(memoryFile, memoryVersion)
	if err != nil {
		return s, nil, false
	}
	r := pack.NewReader(payload)
	err = r.Next(&s)
	return s, payload, err == nil && r.End() == nil && len(s.Spots) == len(s.Traces)
}

// trace returns the trace of spot i. For invalid indices it returns one that never holds.
func (s *saved) trace(i int) (t trace) {
	from := &s.Traces[i]
	if len(from.Sum) != 0 && len(from.Sum) != len(t.Sum) || from.Around < 0 || from.Around > len(s.Stamps) {
		return t
	}
	t.Kind = from.Kind
	copy(t.Sum[:], from.Sum)
	if from.Around > 0 {
		t.Around = s.Stamps[from.Around-1]
	}
	return t
}

// take takes over the saved answers that still hold.
func (m *Cache) take(s saved) {
	m.saved = s
	holds := make([]bool, len(s.Spots))
	for i, spot := range s.Spots {
		var cheap bool
		holds[i], cheap = m.looker.holdsAt(spot, s.trace(i))
		m.news = m.news || !cheap
	}
	for i := range s.Answers {
		a := &s.Answers[i]
		if a.Scope < 0 || a.Scope >= len(s.Scopes) {
			continue
		}
		a.Answer.Scope = s.Scopes[a.Scope]
		if !slices.ContainsFunc(a.Reads, func(n int) bool { return n < 0 || n >= len(holds) || !holds[n] }) {
			m.answered[a.Question] = &answered{Answer: a.Answer, from: a.Reads}
		}
	}
	m.takeDetected(s.Detected)
	m.news = m.news || len(m.answered) != len(s.Answers) || len(m.detected) != len(s.Detected)
}

// takeDetected takes over the saved answers of Detect. It drops all answers about a directory where
// one no longer holds: the order of the adapters matters.
func (m *Cache) takeDetected(list []savedDetect) {
	changed := make(map[string]bool) // directories
	for i := range m.saved.Answers {
		if q := m.saved.Answers[i].Question; m.answered[q] == nil {
			changed[q.Dir] = true
		}
	}
	for _, d := range list {
		if sum, known := m.marksOf(d.Question.Dir); !known || d.Marks != sum {
			changed[d.Question.Dir] = true
		}
	}
	for _, d := range list {
		if !changed[d.Question.Dir] {
			m.detected[d.Question] = d.Yes
		}
	}
}

// marksOf returns the digest of marks of an absolute directory.
func (m *Cache) marksOf(dir string) (sum [32]byte, known bool) {
	rel, inside := m.looker.relative(dir)
	if !inside {
		return sum, false
	}
	return m.marks.of(cmp.Or(rel, "."))
}

// Save writes the answers if one is new. When writing fails, adapters are asked again next time.
// Nobody asks meanwhile, so it takes no lock.
func (m *Cache) Save() {
	if m == nil {
		return
	}
	if !m.news && len(m.asked) == len(m.detected) && !m.anyUnused() {
		return
	}
	w := pack.Writer{}
	w.Add(m.all())
	if !bytes.Equal(w.Payload(), m.payload) {
		_ = m.o.State.Store(memoryFile, memoryVersion, w.Payload())
	}
}

func (m *Cache) anyUnused() bool {
	for _, a := range m.answered {
		if !a.used {
			return true
		}
	}
	return false
}

// all returns the answers that were used in this process and can be reused.
func (m *Cache) all() saved {
	s := &saver{
		saved: saved{Basis: m.o.Basis}, m: m,
		at: make(map[seen]int), stamps: make(map[tree.Stamp]int), scopes: make(map[string][]int),
	}
	paths := 0
	for _, a := range m.answered {
		paths += len(a.reads)
	}
	s.traced = make(map[pathState]seen, paths/2) // many answers share paths
	for _, q := range sortedQuestions(m.answered) {
		if a := m.answered[q]; a.used {
			if reads, ok := s.readsOf(a); ok {
				s.Answers = append(s.Answers, savedAnswer{q, a.withoutReads(), s.scope(a.Scope), reads})
			}
		}
	}
	for _, q := range sortedQuestions(m.detected) {
		if sum, known := m.marksOf(q.Dir); known && m.asked[q] {
			s.Detected = append(s.Detected, savedDetect{q, m.detected[q], sum})
		}
	}
	return s.saved
}

// withoutReads returns the answer without the paths, which are saved separately.
func (a Answer) withoutReads() Answer {
	a.Tasks.Reads, a.Links.Reads, a.Scope.Reads, a.Lock.Reads, a.Nested.Reads = nil, nil, nil, nil, nil
	return a
}

// saver collects the content of the file.
type saver struct {
	saved
	m      *Cache
	traced map[pathState]seen
	at     map[seen]int // in Spots
	stamps map[tree.Stamp]int
	scopes map[string][]int // in Scopes, by their directories
}

// scope returns the index of a scope in Scopes.
func (s *saver) scope(scope adapters.Scope) int {
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

type pathState struct {
	path string
	adapters.State
}

// seen is a spot with its trace. The spot of an absent path with a stamp is the directory with it.
type seen struct {
	spot
	trace
}

// readsOf adds the spots that an answer depends on; ok is false when one of them changed meanwhile.
func (s *saver) readsOf(a *answered) (reads []int, ok bool) {
	around := make(map[seen][]string) // absent paths by directory
	for path, state := range s.pathsOf(a) {
		t := s.trace(path, state)
		switch {
		case t.Kind == adapters.Unseen || t.Kind == adapters.Unsteady:
			return nil, false
		case t.Kind == adapters.Absent && t.Around != tree.Stamp{}:
			around[t] = append(around[t], path)
		default:
			reads = append(reads, s.put(t))
		}
	}
	for _, near := range slices.SortedFunc(maps.Keys(around), func(a, b seen) int { return strings.Compare(a.Path, b.Path) }) {
		var names strings.Builder
		for _, path := range around[near] {
			names.WriteString(strings.TrimPrefix(path[len(near.Path):], "/"))
			names.WriteByte(0)
		}
		near.Absent = names.String()
		reads = append(reads, s.put(near))
	}
	return reads, true
}

// pathsOf yields the paths that an answer depends on, sorted, and what it saw there.
func (s *saver) pathsOf(a *answered) iter.Seq2[string, adapters.State] {
	return func(yield func(string, adapters.State) bool) {
		for _, path := range slices.Sorted(maps.Keys(a.reads)) {
			if !yield(path, a.reads[path]) {
				return
			}
		}
		for _, n := range a.from {
			before := s.m.saved.trace(n)
			for path := range s.m.saved.Spots[n].paths() {
				if !yield(path, before.State) {
					return
				}
			}
		}
	}
}

func (s *saver) trace(path string, state adapters.State) seen {
	x := pathState{path, state}
	t, known := s.traced[x]
	if !known {
		t.Path = path
		if t.trace = s.m.looker.traced(path, state); t.Kind == adapters.Absent && t.Around != (tree.Stamp{}) {
			_, first := s.m.looker.nearest(path)
			t.Path = filepath.Join(s.m.o.Tree.Root(), filepath.FromSlash(parent(first)))
		}
		s.traced[x] = t
		if state.Sum != [32]byte{} && state.Kind == adapters.Regular {
			s.m.o.Source.State(path, true) // the index learns the digest, and the next invocation reads nothing
		}
	}
	return t
}

// put returns the index of a spot in Spots.
func (s *saver) put(x seen) int {
	n, known := s.at[x]
	if !known {
		n = len(s.Spots)
		s.at[x] = n
		s.Spots, s.Traces = append(s.Spots, x.spot), append(s.Traces, s.save(x.trace))
	}
	return n
}

func (s *saver) save(t trace) savedTrace {
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

func sortedQuestions[V any](m map[question]V) []question {
	return slices.SortedFunc(maps.Keys(m), func(a, b question) int {
		if c := strings.Compare(a.Dir, b.Dir); c != 0 {
			return c
		}
		return strings.Compare(a.Adapter, b.Adapter)
	})
}
