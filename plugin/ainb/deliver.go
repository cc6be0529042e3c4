package ainb

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/bentobuild/bento/plugin/ainb/bus"
	"github.com/bentobuild/bento/plugin/host"
	"github.com/bentobuild/bento/plugin/wire"
)

// maxInputs is how many keys, and how many movements of the mouse, wait for an extension.
const maxInputs = 64

// inputs are the keys and the mouse on their way to an extension. They go ahead of all events, the
// keys first; the oldest make room.
type inputs struct {
	more chan struct{} // has a value when there is something new

	mu      sync.Mutex
	keys    []keyParams
	mouse   []mouseParams
	dropped uint64
}

func (in *inputs) key(p keyParams) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.keys = append(in.keys, p)
	if len(in.keys) > maxInputs {
		in.keys = in.keys[1:]
		in.dropped++
	}
	in.wake()
}

func (in *inputs) move(p mouseParams) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.mouse = append(in.mouse, p)
	if len(in.mouse) > maxInputs {
		in.mouse = in.mouse[1:]
		in.dropped++
	}
	in.wake()
}

func (in *inputs) wake() {
	select {
	case in.more <- struct{}{}:
	default:
	}
}

// next returns the next input with its method, "" for none.
func (in *inputs) next() (method string, params any) {
	in.mu.Lock()
	defer in.mu.Unlock()
	switch {
	case len(in.keys) > 0:
		params, in.keys = in.keys[0], in.keys[1:]
		return "plugin/handle_key", params
	case len(in.mouse) > 0:
		params, in.mouse = in.mouse[0], in.mouse[1:]
		return "plugin/handle_mouse", params
	}
	return "", nil
}

// lost returns how many events and inputs did not fit.
func (s *session) lost() uint64 {
	s.input.mu.Lock()
	defer s.input.mu.Unlock()
	return s.input.dropped + s.inbox.Dropped()
}

// deliver writes inputs and events, one after another, until the process has ended.
func (s *session) deliver(ctx context.Context, p *wire.Peer) {
	for {
		if method, params := s.input.next(); method != "" {
			s.x.resident.Use()
			if p.Notify(method, params) != nil {
				return
			}
			continue
		}
		select { // events of sockets do not wait for a busy bus
		case e := <-s.pushed:
			if s.notify(p, e) != nil {
				return
			}
		default:
		}
		if e, ok := s.inbox.Next(); ok {
			if s.event(p, e) != nil {
				return
			}
			continue
		}
		s.resting.Store(true)
		select {
		case <-s.input.more:
		case <-s.inbox.Ready():
		case e := <-s.pushed:
			if s.notify(p, e) != nil {
				return
			}
		case <-ctx.Done():
			return
		}
		s.resting.Store(false)
	}
}

// behind reports whether the extension starts, or has not been sent all events.
func (x *extension) behind() bool {
	switch state, _ := x.resident.State(); state {
	case host.Starting:
		return true
	case host.Ready:
		s := x.session()
		return s != nil && (s.inbox.Len() > 0 || !s.resting.Load())
	}
	return false
}

// settle waits until an extension that runs or starts has been sent all published events, or ctx is done.
func (x *extension) settle(ctx context.Context) {
	tick := time.NewTicker(settlePause)
	defer tick.Stop()
	for x.behind() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// settlePause is the time between two looks at the inbox.
const settlePause = 2 * time.Millisecond

// event writes an event of the bus: as an update of its topic, and for each stream of it.
func (s *session) event(p *wire.Peer, e bus.Event) error {
	s.mu.Lock()
	var to []string
	if s.topics[e.Topic] {
		to = append(to, e.Topic)
	}
	for id, topic := range s.streams {
		if topic == e.Topic {
			to = append(to, "stream:"+id)
		}
	}
	s.mu.Unlock()
	slices.Sort(to)
	if s.x.needsAll(e.Topic) {
		s.x.resident.Use()
	}
	for _, topic := range to {
		if err := p.Notify("plugin/handle_event", eventParams{topic, some(e.Payload)}); err != nil {
			return err
		}
	}
	return nil
}

func (s *session) notify(p *wire.Peer, e eventParams) error {
	s.x.resident.Use()
	return p.Notify("plugin/handle_event", e)
}
