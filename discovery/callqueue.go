package discovery

import "github.com/bentobuild/bento/adapters"

// callQueue orders the calls of plugins. The zero value is ready for use by one goroutine.
type callQueue struct {
	last map[adapters.Adapter]<-chan struct{} // closed when the last in the queue has left
}

// Join adds a place after all earlier ones, for each plugin among asked. Calls of other adapters, and of
// plugins that take several calls at a time, have no order. The caller must leave every place in the end.
func (q *callQueue) Join(asked []adapters.Adapter) *queuePlace {
	if q.last == nil {
		q.last = make(map[adapters.Adapter]<-chan struct{})
	}
	p := &queuePlace{of: make(map[adapters.Adapter]callOrder)}
	for _, a := range asked {
		if _, plugin := a.(adapters.Starter); !plugin || a.Manifest().Parallel > 1 {
			continue
		}
		left := make(chan struct{})
		p.of[a] = callOrder{before: q.last[a], left: left}
		q.last[a] = left
	}
	return p
}

// queuePlace is a place in a turnQueue, for one goroutine. A nil turn never waits.
type queuePlace struct {
	of map[adapters.Adapter]callOrder
}

type callOrder struct {
	before <-chan struct{} // nil for the first
	left   chan<- struct{}
}

// Wait returns when all earlier places have left a.
func (p *queuePlace) Wait(a adapters.Adapter) {
	if p == nil {
		return
	}
	if s := p.of[a]; s.before != nil {
		<-s.before
	}
}

// Leave lets the next place ask a. It first waits for its turn, so that the order stays. A second
// call does nothing.
func (p *queuePlace) Leave(a adapters.Adapter) {
	if p == nil {
		return
	}
	if s, ok := p.of[a]; ok {
		p.Wait(a)
		close(s.left)
		delete(p.of, a)
	}
}

// LeaveAll leaves the remaining plugins.
func (p *queuePlace) LeaveAll() {
	for a := range p.of {
		p.Leave(a)
	}
}
