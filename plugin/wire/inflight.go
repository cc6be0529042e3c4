package wire

import "sync"

// inFlight are the requests that wait for an answer.
type inFlight struct {
	mu      sync.Mutex
	last    int64
	waiting map[int64]chan Answer
	idle    int // messages received since the last time that something was asked
	settled int // requests answered since the last time that somebody looked
}

// add gives the next id, and the channel for its answer.
func (f *inFlight) add() (int64, chan Answer) {
	answer := make(chan Answer, 1)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.last++
	f.waiting[f.last] = answer
	f.idle = 0
	return f.last, answer
}

// settle gives the request its answer, and tells whether it waited for one.
func (f *inFlight) settle(id int64, a Answer) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	answer, ok := f.waiting[id]
	if ok {
		delete(f.waiting, id)
		f.settled++
		answer <- a
	}
	return ok
}

// waits tells whether the request has no answer yet.
func (f *inFlight) waits(id int64) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, ok := f.waiting[id]
	return ok
}

// some tells whether a request has no answer yet.
func (f *inFlight) some() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.waiting) > 0
}

// restful tells whether all that was asked has been answered, since the last time
// that somebody looked.
func (f *inFlight) restful() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	answered := f.settled > 0
	f.settled = 0
	return answered && len(f.waiting) == 0
}

// failAll gives every request the same answer, and tells whether there was one.
func (f *inFlight) failAll(err error) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	any := len(f.waiting) > 0
	for _, answer := range f.waiting {
		answer <- Answer{Err: err}
	}
	clear(f.waiting)
	return any
}

// received counts a message, and gives how many came in a row while nothing was
// asked.
func (f *inFlight) received() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.waiting) == 0 {
		f.idle++
	}
	return f.idle
}
