package probe

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/internal/proc"
)

// Memory caches the answers of tools while the snapshot of the workspace is valid: a thousand dishes
// whose tool has the same command line and environment start it once. It is safe for concurrent use.
// The zero value is empty.
type Memory struct{ answers snapshot.Machine[*answers] }

// answers are the answers for one snapshot, by command line and environment.
type answers struct {
	mu sync.Mutex
	by map[string]*answer
}

type answer struct {
	once   sync.Once
	output Output
	err    error
}

// ask returns the output of a tool that is started outside of the project.
func (m *Memory) ask(ctx context.Context, from snapshot.Source, spec proc.Spec, at At) (Output, error) {
	known, err := m.answers.See(from, func() (*answers, error) { return &answers{by: make(map[string]*answer)}, nil })
	if err != nil {
		return Output{}, err
	}
	env := slices.Sorted(slices.Values(spec.Env))
	key := strings.Join(spec.Argv, "\x00") + "\x00\x00" + strings.Join(env, "\x00")
	a := known.of(key)
	a.once.Do(func() { a.output, a.err = output(ctx, spec, at) })
	if a.err != nil && ctx.Err() != nil {
		known.forget(key) // it was interrupted
	}
	var refusal *Refusal
	if errors.As(a.err, &refusal) && refusal.Dir != at.Dir {
		mine := *refusal
		mine.Dir = at.Dir
		return a.output, &mine
	}
	return a.output, a.err
}

func (s *answers) of(key string) *answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.by[key]
	if a == nil {
		a = &answer{}
		s.by[key] = a
	}
	return a
}

func (s *answers) forget(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.by, key)
}
