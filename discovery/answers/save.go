package answers

import (
	"bytes"
	"cmp"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/pack"
	"github.com/bentobuild/bento/internal/state"
	"github.com/bentobuild/bento/internal/tree"
)

// The memory is one file of the workspace's state.
const (
	memoryFile    = "answers"
	memoryVersion = 4
)

// saved is what the file holds.
type saved struct {
	Basis    string
	Paths    []string         // that answers were made from
	Traces   []savedTrace     // of Paths
	Stamps   []tree.Stamp     // that traces name
	Scopes   []adapters.Scope // that answers name: members of a workspace share one
	Detected []savedDetect
	Answers  []savedAnswer
}

// savedTrace is a trace.
type savedTrace struct {
	Kind   kind
	Sum    string // "" for zero
	Around int    // one more than its number in Stamps, 0 for none
}

type savedDetect struct {
	Question question
	Yes      bool
	Marks    [32]byte // of the directory
}

type savedAnswer struct {
	Question question
	Answer   Answer
	Scope    int   // in Scopes
	Reads    []int // in Paths
}

func load(dir *state.Dir) (s saved, payload []byte, ok bool) {
	payload, err := dir.Load(memoryFile, memoryVersion)
	if err != nil {
		return s, nil, false
	}
	r := pack.NewReader(payload)
	err = r.Next(&s)
	return s, payload, err == nil && r.End() == nil && len(s.Paths) == len(s.Traces)
}

// trace gives that of path i, which is never the same if the file makes no sense.
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

// take takes over what holds of what was saved.
func (m *Memory) take(s saved) {
	m.saved = s
	holds := make([]bool, len(s.Paths))
	for i, path := range s.Paths {
		var cheap bool
		holds[i], cheap = m.looker.holds(path, s.trace(i))
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

// takeDetected takes over who detected what. In a directory that an answer does not hold
// for any more nobody knows anything: one adapter has seen what made another say no.
func (m *Memory) takeDetected(list []savedDetect) {
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

// marksOf gives the marks of an absolute directory.
func (m *Memory) marksOf(dir string) (sum [32]byte, known bool) {
	rel, inside := m.looker.relative(dir)
	if !inside {
		return sum, false
	}
	return m.marks.of(cmp.Or(rel, "."))
}

// Save writes the memory, if anything in it is new. One that cannot be written costs
// no more than that adapters are asked again.
func (m *Memory) Save() {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.news && len(m.asked) == len(m.detected) && !m.anyUnused() {
		return
	}
	w := pack.Writer{}
	w.Add(m.all())
	if !bytes.Equal(w.Payload(), m.payload) {
		_ = m.o.State.Store(memoryFile, memoryVersion, w.Payload())
	}
}

func (m *Memory) anyUnused() bool {
	for _, a := range m.answered {
		if !a.used {
			return true
		}
	}
	return false
}

// all gives what was used in this invocation and can be relied on in the next.
func (m *Memory) all() saved {
	s := &saver{saved: saved{Basis: m.o.Basis}, m: m, at: make(map[read]int), stamps: make(map[tree.Stamp]int), scopes: make(map[string][]int)}
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

// withoutReads gives the answer without what is saved beside it.
func (a Answer) withoutReads() Answer {
	a.Tasks.Reads, a.Links.Reads, a.Scope.Reads, a.Lock.Reads = nil, nil, nil, nil
	return a
}

// saver collects what is saved.
type saver struct {
	saved
	m      *Memory
	at     map[read]int // in Paths; -1 for what cannot be relied on
	stamps map[tree.Stamp]int
	scopes map[string][]int // in Scopes, by their directories
}

// scope gives the number of a scope in Scopes.
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

// read is a path that was read in this invocation, or before and has not changed:
// then it has a number in what was saved.
type read struct {
	path  string
	fresh bool
}

// readsOf adds the paths that an answer was made from; ok is false when one of them
// cannot be relied on.
func (s *saver) readsOf(a *answered) (reads []int, ok bool) {
	for _, path := range a.reads {
		if reads, ok = s.add(reads, read{path, true}, trace{}); !ok {
			return nil, false
		}
	}
	for _, n := range a.from {
		if reads, ok = s.add(reads, read{s.m.saved.Paths[n], false}, s.m.saved.trace(n)); !ok {
			return nil, false
		}
	}
	return reads, true
}

// add adds a path, which had a trace before if it is not fresh.
func (s *saver) add(reads []int, r read, before trace) ([]int, bool) {
	n, seen := s.at[r]
	if !seen {
		n = -1
		t := s.m.looker.settled(r.path)
		if t.Kind == unknown && !r.fresh {
			t = before
		}
		if t.Kind != unknown {
			n = len(s.Paths)
			s.Paths, s.Traces = append(s.Paths, r.path), append(s.Traces, s.trace(t))
		}
		s.at[r] = n
	}
	return append(reads, n), n >= 0
}

func (s *saver) trace(t trace) savedTrace {
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
