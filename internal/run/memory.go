package run

import (
	"slices"

	"github.com/bentobuild/bento/internal/plan"
)

// memory shares out the memory of the machine among tasks that declare what they need.
type memory struct {
	size    int64                // bytes; 0: unknown, so nothing waits for memory
	held    int64                // bytes that running tasks have taken, without those of lasting
	lasting int64                // bytes that ready servers have taken: other tasks must not wait for these
	of      map[*plan.Task]int64 // bytes, by the tasks that have taken them
	servers map[*plan.Task]bool  // the servers whose memory is in lasting
}

// share sets the size to the result of known, if a task declares its memory.
func (m *memory) share(tasks []*plan.Task, known func() int64) {
	if known != nil && slices.ContainsFunc(tasks, func(t *plan.Task) bool { return t.Memory > 0 }) {
		m.size = known()
	}
}

// need returns the memory that t takes: at most all memory that servers leave.
func (m *memory) need(t *plan.Task) int64 { return min(t.Memory, max(0, m.size-m.lasting)) }

// fits reports whether there is memory for t now. If no running task has taken any, t always fits.
func (m *memory) fits(t *plan.Task) bool {
	return m.size == 0 || t.Memory == 0 || m.need(t) <= m.size-m.lasting-m.held || m.held == 0
}

func (m *memory) take(t *plan.Task) {
	if m.size > 0 && t.Memory > 0 {
		n := m.need(t)
		m.held += n
		m.of[t] = n
	}
}

// last moves the memory of t from held to lasting: t is a server that other tasks may need.
func (m *memory) last(t *plan.Task) {
	if n := m.of[t]; n > 0 && !m.servers[t] {
		if m.servers == nil {
			m.servers = make(map[*plan.Task]bool)
		}
		m.servers[t] = true
		m.held -= n
		m.lasting += n
	}
}

func (m *memory) release(t *plan.Task) {
	if m.servers[t] {
		m.lasting -= m.of[t]
	} else {
		m.held -= m.of[t]
	}
	delete(m.of, t)
	delete(m.servers, t)
}
