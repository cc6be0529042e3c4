package adapter

import (
	"context"
	"sync"
)

// memo keeps answers, so that each question is asked at most once. It asks again if the caller of the
// question gave up.
type memo[K comparable, V any] struct {
	mu      sync.Mutex
	answers map[K]*kept[V]
}

type kept[V any] struct {
	done  chan struct{}
	value V
	err   error
	again bool // the caller gave up
}

// get returns the answer for key, from ask the first time.
func (m *memo[K, V]) get(ctx context.Context, key K, ask func() (V, error)) (V, error) {
	for {
		a, mine := m.claim(key)
		if mine {
			a.value, a.err = ask()
			if a.again = ctx.Err() != nil; a.again {
				m.forget(key)
			}
			close(a.done)
			return a.value, a.err
		}
		select {
		case <-a.done:
		case <-ctx.Done():
			return a.zero(), ctx.Err()
		}
		if !a.again {
			return a.value, a.err
		}
	}
}

func (m *memo[K, V]) claim(key K) (a *kept[V], mine bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if a, ok := m.answers[key]; ok {
		return a, false
	}
	if m.answers == nil {
		m.answers = make(map[K]*kept[V])
	}
	a = &kept[V]{done: make(chan struct{})}
	m.answers[key] = a
	return a, true
}

func (m *memo[K, V]) forget(key K) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.answers, key)
}

func (a *kept[V]) zero() (v V) { return v }
