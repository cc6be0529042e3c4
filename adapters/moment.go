package adapters

import (
	"sync"
	"time"
)

// moment is how long a Moment keeps its value.
const moment = time.Second

// Moment keeps a value read from the machine (the tools on PATH, the installed toolchains)
// for a second, so that a thousand dishes share one look. It is safe for concurrent use;
// two goroutines may both look. The zero value is empty.
type Moment[T any] struct {
	mu    sync.Mutex
	value T
	err   error
	seen  time.Time
}

// See returns the last value of look if it is less than a second old, else calls look.
func (m *Moment[T]) See(look func() (T, error)) (T, error) {
	m.mu.Lock()
	value, err, seen := m.value, m.err, m.seen
	m.mu.Unlock()
	if !seen.IsZero() && time.Since(seen) < moment {
		return value, err
	}
	seen = time.Now()
	value, err = look()
	m.mu.Lock()
	m.value, m.err, m.seen = value, err, seen
	m.mu.Unlock()
	return value, err
}
