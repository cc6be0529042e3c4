// Package turns has plugins asked in the same order in every run. Dishes are asked about
// at once, and a plugin takes one call at a time anyway: when one of them ends it, the
// same dishes have to be lost, whoever was faster.
package turns

import "github.com/bentobuild/bento/adapters"

// Queue is who asks which plugin in which order. The zero value is ready for use, by one
// goroutine.
type Queue struct {
	last map[adapters.Adapter]<-chan struct{} // closed when the last of them has left
}

// Join puts somebody behind all that have joined before, for each plugin among those that
// he may ask. Other adapters, and plugins that take several calls at a time, are asked in
// any order. Everybody has to leave in the end.
func (q *Queue) Join(asked []adapters.Adapter) *Place {
	if q.last == nil {
		q.last = make(map[adapters.Adapter]<-chan struct{})
	}
	p := &Place{of: make(map[adapters.Adapter]spot)}
	for _, a := range asked {
		if _, plugin := a.(adapters.Starter); !plugin || a.Manifest().Parallel > 1 {
			continue
		}
		left := make(chan struct{})
		p.of[a] = spot{before: q.last[a], left: left}
		q.last[a] = left
	}
	return p
}

// Place is somebody's place in a Queue, for one goroutine. In nil nobody waits.
type Place struct {
	of map[adapters.Adapter]spot
}

type spot struct {
	before <-chan struct{} // nil for the first
	left   chan<- struct{}
}

// Wait returns when all that are in front have left a.
func (p *Place) Wait(a adapters.Adapter) {
	if p == nil {
		return
	}
	if s := p.of[a]; s.before != nil {
		<-s.before
	}
}

// Leave lets the next one ask a. It waits for the turn first: the next one must not
// overtake those in front. The second time it does nothing.
func (p *Place) Leave(a adapters.Adapter) {
	if p == nil {
		return
	}
	if s, ok := p.of[a]; ok {
		p.Wait(a)
		close(s.left)
		delete(p.of, a)
	}
}

// LeaveAll leaves whatever was not left yet.
func (p *Place) LeaveAll() {
	for a := range p.of {
		p.Leave(a)
	}
}
