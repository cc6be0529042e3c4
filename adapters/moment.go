package adapters

import (
	"sync"
	"time"
)

// moment is how long a Moment holds.
const moment = time.Second

// Moment holds what was seen of the machine (what is on PATH, which toolchains are
// installed) for a second, so that a thousand dishes that ask at once share one look.
// It is safe for concurrent use; two goroutines may both look. The zero value has
// seen nothing.
type Moment[T any] struct {
	mu    sync.Mutex
	value T
	err   error
	seen  time.Time
}

// See gives what look gave last, if that was within the second, else looks again.
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
