// Package answers remembers what adapters said of directories, for as long as nothing
// changes that they said it from.
package answers

import (
	"context"
	"slices"
	"sync"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/clone"
	"github.com/bentobuild/bento/internal/state"
	"github.com/bentobuild/bento/internal/tree"
)

// Answer is all that an adapter says of a directory.
type Answer struct {
	Tasks adapters.TasksAnswer
	// Pin is what RequiredToolchain gave, and PinError its error.
	Pin      *adapters.Toolchain
	PinError error `pack:"-"`
	Links    adapters.LinksAnswer
	Scope    adapters.Scope `pack:"-"`
	Lock     adapters.LockAnswer
}

// Options are the inputs of Open.
type Options struct {
	State *state.Dir
	Tree  *tree.Tree
	Clone *clone.Clone // the same workspace, as adapters read it
	// Basis names everything that answers depend on, beside the adapter and the files
	// that it reads: the program, the environment, settings. "" remembers nothing.
	Basis    string
	Adapters []adapters.Adapter
	Marks    []Mark // files and directories whose names an adapter knows
}

// Memory holds answers. It is safe for concurrent use. Nil remembers nothing.
type Memory struct {
	o      Options
	looker *looker
	marks  *marks

	mu       sync.Mutex
	answered map[question]*answered
	detected map[question]bool
	asked    map[question]bool // whether Detect was, in this invocation
	saved    saved             // what the file held
	payload  []byte            // the file
	news     bool
}

// question is what adapter is asked about which directory.
type question struct {
	Adapter string // its id and identity
	Dir     string
}

func ask(a adapters.Adapter, dir string) question {
	m := a.Manifest()
	return question{m.AdapterID + "\x00" + m.Identity, dir}
}

// answered is an Answer with the paths that it was made from.
type answered struct {
	Answer
	reads []string // of an answer from this invocation
	from  []int    // of one from before: the same, in what was saved
	used  bool     // in this invocation
}

// Open reads the memory and drops what does not hold any more. It gives nil where
// nothing can be remembered.
func Open(o Options) *Memory {
	marks, ok := newMarks(&o)
	if !ok || o.Basis == "" {
		return nil
	}
	m := &Memory{
		marks: marks, o: o, looker: newLooker(o.Tree, o.Clone), answered: make(map[question]*answered),
		detected: make(map[question]bool), asked: make(map[question]bool),
	}
	if s, payload, ok := load(o.State); ok && s.Basis == o.Basis {
		m.payload = payload
		m.take(s)
	}
	return m
}

// about gives what remembers answers of a: nobody those of a process, which answers
// for itself each time.
func (m *Memory) about(a adapters.Adapter) *Memory {
	if _, process := a.(adapters.Starter); process {
		return nil
	}
	return m
}

// Knows tells whether Ask needs no adapter.
func (m *Memory) Knows(a adapters.Adapter, dir string) bool {
	if m = m.about(a); m == nil {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.answered[ask(a, dir)] != nil
}

// Detect asks a whether dir is a project of its language, or knows.
func (m *Memory) Detect(ctx context.Context, a adapters.Adapter, dir string) (bool, error) {
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

// recallDetect gives what Detect said.
func (m *Memory) recallDetect(q question) (yes, known bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	yes, known = m.detected[q]
	m.asked[q] = m.asked[q] || known
	return yes, known
}

// Ask asks a everything about dir, or knows.
func (m *Memory) Ask(ctx context.Context, a adapters.Adapter, dir string) (Answer, error) {
	if m = m.about(a); m == nil {
		answer, err := askAll(ctx, a, dir)
		return answer.withoutReads(), err
	}
	q := ask(a, dir)
	m.mu.Lock()
	known := m.answered[q]
	if known != nil {
		known.used = true
	}
	m.mu.Unlock()
	if known != nil {
		return known.Answer, nil
	}
	answer, err := askAll(ctx, a, dir)
	if err == nil && answer.rememberable(a.Manifest()) {
		m.keep(q, answer)
	}
	return answer.withoutReads(), err
}

func (m *Memory) keep(q question, answer Answer) {
	reads := slices.Concat(answer.Tasks.Reads, answer.Links.Reads, answer.Scope.Reads, answer.Lock.Reads)
	slices.Sort(reads)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.answered[q] = &answered{Answer: answer, reads: slices.Compact(reads), used: true}
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

// rememberable tells whether an answer says what it was made from.
func (a *Answer) rememberable(m *adapters.Manifest) bool {
	c := m.Capabilities
	return a.PinError == nil && len(a.Tasks.Reads) > 0 &&
		(!c.Links || len(a.Links.Reads) > 0) && (!c.InstallScope || len(a.Scope.Reads) > 0)
}
