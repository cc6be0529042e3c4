package bus

import "sync"

// Inbox is the queue of events of one subscriber: at most 1,024 events and 64 MiB. A full inbox drops
// its oldest events, and counts them.
type Inbox struct {
	topics map[string]bool // guarded by the bus
	ready  chan struct{}

	mu      sync.Mutex
	events  []Event
	bytes   int
	dropped uint64
}

func (in *Inbox) add(e Event) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.events = append(in.events, e)
	in.bytes += len(e.Payload)
	for len(in.events) > 1 && (len(in.events) > maxEvents || in.bytes > maxStored) {
		in.bytes -= len(in.events[0].Payload)
		in.events[0] = Event{}
		in.events = in.events[1:]
		in.dropped++
	}
	select {
	case in.ready <- struct{}{}:
	default:
	}
}

// Ready returns a channel that has a value after an event has arrived.
func (in *Inbox) Ready() <-chan struct{} { return in.ready }

// Next takes the oldest event, and returns false if the inbox is empty.
func (in *Inbox) Next() (Event, bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if len(in.events) == 0 {
		in.events = nil
		return Event{}, false
	}
	e := in.events[0]
	in.events[0] = Event{}
	in.events = in.events[1:]
	in.bytes -= len(e.Payload)
	return e, true
}

// Len returns how many events wait.
func (in *Inbox) Len() int {
	in.mu.Lock()
	defer in.mu.Unlock()
	return len(in.events)
}

// Dropped returns how many events did not fit.
func (in *Inbox) Dropped() uint64 {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.dropped
}
