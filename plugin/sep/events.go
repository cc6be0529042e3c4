package sep

import (
	"encoding/json"
	"sync"
	"time"
)

// The bounds of the events that wait for one extension.
const (
	maxEvents     = 256
	maxEventBytes = 16 << 20
)

// event is the params of sep.event.
type event struct {
	Event     string          `json:"event"`
	Seq       uint64          `json:"seq"` // of the extension, from 1
	Timestamp time.Time       `json:"timestamp"`
	Data      json.RawMessage `json:"data"`
	Dropped   int             `json:"dropped,omitempty"` // events before this one that did not fit
}

// events is a queue. When it is full, the oldest event is dropped and counted.
type events struct {
	more chan struct{} // holds one when there may be an event

	mu      sync.Mutex
	seq     uint64
	list    []event
	bytes   int
	dropped int           // since the last event that was taken
	busy    bool          // an event was taken, and is not written yet
	idle    chan struct{} // closed when all are written; nil while none waits for that
}

func newEvents() *events { return &events{more: make(chan struct{}, 1)} }

// add queues an event and returns how many were dropped for it.
func (q *events) add(topic string, data json.RawMessage, at time.Time) (dropped int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.seq++
	q.list = append(q.list, event{Event: topic, Seq: q.seq, Timestamp: at.UTC(), Data: data})
	q.bytes += len(data)
	for len(q.list) > maxEvents || q.bytes > maxEventBytes && len(q.list) > 1 {
		q.bytes -= len(q.list[0].Data)
		q.list[0] = event{}
		q.list = q.list[1:]
		q.dropped, dropped = q.dropped+1, dropped+1
	}
	select {
	case q.more <- struct{}{}:
	default:
	}
	return dropped
}

// next takes the oldest event.
func (q *events) next() (e event, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.list) == 0 {
		q.list = nil
		return e, false
	}
	e, q.list[0], q.list = q.list[0], event{}, q.list[1:]
	q.bytes -= len(e.Data)
	e.Dropped, q.dropped = q.dropped, 0
	q.busy = true
	return e, true
}

// wrote ends the writing of the event that was taken.
func (q *events) wrote(e event, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.busy = false
	if !ok {
		q.dropped += e.Dropped + 1
	}
	if q.idle != nil && len(q.list) == 0 {
		close(q.idle)
		q.idle = nil
	}
}

// written returns a channel that is closed when all events are written, nil if they are.
func (q *events) written() <-chan struct{} {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.list) == 0 && !q.busy {
		return nil
	}
	if q.idle == nil {
		q.idle = make(chan struct{})
	}
	return q.idle
}
