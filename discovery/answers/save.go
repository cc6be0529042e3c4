package answers

import (
	"cmp"
	"slices"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/state"
	"github.com/bentobuild/bento/internal/tree"
)

// part is the name of the answers in the file.
const part = "answers"

// saved are the saved answers.
type saved struct {
	Basis    string
	Spots    []spot           // that answers depend on
	Traces   []savedTrace     // by index of Spots
	Groups   [][]int          // indices in Spots that the same answers depend on
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
	Reads    []int // indices in Groups
}

func load(p *state.Parts) (s saved, ok bool) {
	ok = p.Get(part, &s)
	return s, ok && len(s.Spots) == len(s.Traces)
}

// trace returns the trace of spot i. For an invalid index it returns a trace that never holds.
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

// take keeps the saved answers that still hold.
func (m *Cache) take(s saved) {
	m.saved = s
	holds := m.holdingGroups()
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

// holdingGroups reports of each group whether all of its spots still have their traces.
func (m *Cache) holdingGroups() []bool {
	holds := make([]bool, len(m.saved.Spots))
	for i, spot := range m.saved.Spots {
		var cheap bool
		holds[i], cheap = m.looker.holdsAt(spot, m.saved.trace(i))
		m.news = m.news || !cheap
	}
	groups := make([]bool, len(m.saved.Groups))
	for i, g := range m.saved.Groups {
		groups[i] = !slices.ContainsFunc(g, func(n int) bool { return n < 0 || n >= len(holds) || !holds[n] })
	}
	return groups
}

// takeDetected keeps the saved answers of Detect. If one answer about a directory no longer holds, it
// drops all answers about that directory, since the order of the adapters matters.
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
