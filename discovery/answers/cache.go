// Package answers saves the answers of adapters about directories and about the text of sources, and reuses
// each as long as the files that it depends on are unchanged.
package answers

import (
	"context"
	"sync"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/internal/state"
	"github.com/bentobuild/bento/internal/tree"
)

// Answer is the answer of an adapter about a directory.
type Answer struct {
	Tasks adapters.TasksAnswer
	// Pin is the result of RequiredToolchain, and PinError its error.
	Pin      *adapters.Toolchain
	PinError error `pack:"-"`
	Links    adapters.LinksAnswer
	Scope    adapters.Scope `pack:"-"`
	Lock     adapters.LockAnswer
	// Nested is the result of Nested, alone in its Answer.
	Nested adapters.NestedAnswer
}

// Options are the inputs of Open.
type Options struct {
	Saved  *state.Parts
	Tree   *tree.Tree
	Source snapshot.Source // the same workspace, as adapters read it
	// Basis identifies everything that answers depend on besides the adapter and the files it
	// reads: the program, the environment, settings. With "" nothing is saved.
	Basis    string
	Adapters []adapters.Adapter
	Marks    []Mark // files and directories whose names an adapter looks for
}

// Cache has saved answers. It is safe for concurrent use. A nil Cache saves nothing.
type Cache struct {
	o      Options
	looker *looker
	marks  *marks

	mu       sync.Mutex
	answered map[question]*answered
	detected map[question]bool
	asked    map[question]bool // Detect was asked in this process
	saved    saved
	news     bool
}

// question is an adapter and the directory that it is asked about.
type question struct {
	Adapter string // id and identity of the adapter
	Dir     string
}

func ask(a adapters.Adapter, dir string) question {
	m := a.Manifest()
	return question{m.AdapterID + "\x00" + m.Identity, dir}
}

// answered is an Answer with the paths that it depends on.
type answered struct {
	Answer
	reads []adapters.Reads // of an answer from this process
	from  []int            // of a saved answer: indices in saved.Groups
	used  bool             // in this process
}

// Open reads the saved answers and drops those that no longer hold. It returns nil if nothing can be
// saved.
func Open(o Options) *Cache {
	marks, ok := newMarks(&o)
	if !ok || o.Basis == "" {
		return nil
	}
	m := &Cache{
		marks: marks, o: o, looker: &looker{files: o.Tree, from: o.Source}, answered: make(map[question]*answered),
		detected: make(map[question]bool), asked: make(map[question]bool),
	}
	if s, ok := load(o.Saved); ok && s.Basis == o.Basis {
		m.take(s)
	}
	return m
}

// about returns the Cache for the answers of a. It returns nil for an adapter in a process that answers
// each time itself.
func (m *Cache) about(a adapters.Adapter) *Cache {
	if _, process := a.(adapters.Starter); process {
		return nil
	}
	return m
}

// Knows reports whether Ask can answer without the adapter.
func (m *Cache) Knows(a adapters.Adapter, dir string) bool {
	if m = m.about(a); m == nil {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.answered[ask(a, dir)] != nil
}

// Detect reports whether dir is a project of the language of a, from a saved answer or from a.
func (m *Cache) Detect(ctx context.Context, a adapters.Adapter, dir string) (bool, error) {
	if m = m.about(a); m == nil {
		return a.Detect(ctx, dir)
	}
	q := ask(a, dir)
	if yes, known := m.recallDetect(q); known {
		return yes, nil
	}
	yes, err := a.Detect(ctx, dir)
	m.mu.Lock()
	defer m.mu.Unlock()
	if err == nil {
		m.detected[q], m.asked[q], m.news = yes, true, true
	}
	return yes, err
}

// recallDetect returns the saved answer of Detect.
func (m *Cache) recallDetect(q question) (yes, known bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	yes, known = m.detected[q]
	m.asked[q] = m.asked[q] || known
	return yes, known
}

// Ask returns the answer of a about dir, from a saved answer or from a.
func (m *Cache) Ask(ctx context.Context, a adapters.Adapter, dir string) (Answer, error) {
	if m = m.about(a); m == nil {
		answer, err := askAll(ctx, a, dir)
		return answer.withoutReads(), err
	}
	q := ask(a, dir)
	if known := m.recall(q); known != nil {
		return known.Answer, nil
	}
	answer, err := askAll(ctx, a, dir)
	if err == nil && answer.rememberable(a.Manifest()) {
		m.keep(q, answer)
	}
	return answer.withoutReads(), err
}

// Nested returns the decision of a about the project in dir inside outer, from a saved answer or from a.
// Both paths are absolute; found is the same as for adapters.Nested.
func (m *Cache) Nested(ctx context.Context, a adapters.Adapter, dir, outer string, found bool) (adapters.NestedAnswer, error) {
	if m = m.about(a); m == nil {
		return adapters.Nested(ctx, a, dir, outer, found)
	}
	q := ask(a, dir)
	q.Adapter += "\x00in " + outer
	if known := m.recall(q); known != nil {
		return known.Nested, nil
	}
	nested, err := adapters.Nested(ctx, a, dir, outer, found)
	if err == nil && len(nested.Reads) > 0 {
		m.keep(q, Answer{Nested: nested})
	}
	return nested, err
}

// recall returns the answer to a question, nil for none, and marks it as used.
func (m *Cache) recall(q question) *answered {
	m.mu.Lock()
	defer m.mu.Unlock()
	known := m.answered[q]
	if known != nil {
		known.used = true
	}
	return known
}

func (m *Cache) keep(q question, answer Answer) {
	var reads []adapters.Reads
	for _, of := range []adapters.Reads{answer.Tasks.Reads, answer.Links.Reads, answer.Scope.Reads, answer.Lock.Reads, answer.Nested.Reads} {
		if len(of) > 0 {
			reads = append(reads, of)
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.answered[q] = &answered{Answer: answer.withoutReads(), reads: reads, used: true}
	m.news = true
}

func askAll(ctx context.Context, a adapters.Adapter, dir string) (answer Answer, err error) {
	if answer.Tasks, err = adapters.Tasks(ctx, a, dir); err != nil {
		return answer, err
	}
	answer.Pin, answer.PinError = a.RequiredToolchain(ctx, dir)
	if answer.Links, err = adapters.Links(ctx, a, dir); err != nil {
		return answer, err
	}
	if answer.Scope, err = adapters.InstallScope(ctx, a, dir); err != nil {
		return answer, err
	}
	answer.Lock, err = adapters.LockDigest(ctx, a, dir)
	return answer, err
}

// rememberable reports whether an answer names the files that it depends on.
func (a *Answer) rememberable(m *adapters.Manifest) bool {
	c := m.Capabilities
	return a.PinError == nil && len(a.Tasks.Reads) > 0 &&
		(!c.Links || len(a.Links.Reads) > 0) && (!c.InstallScope || len(a.Scope.Reads) > 0)
}
