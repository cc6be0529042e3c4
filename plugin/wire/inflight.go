package wire

import (
	"encoding/json"
	"fmt"
	"strconv"
	"sync"

	"github.com/bentobuild/bento/internal/jsontext"
)

// Answer is the answer to a request: a result, or an error that is an *RPCError or a
// *BadAnswer.
type Answer struct {
	Result json.RawMessage
	Err    error
}

// BadAnswer is the error of a request whose response is invalid.
type BadAnswer struct{ Why string }

func (e *BadAnswer) Error() string { return e.Why }

func badAnswer(format string, args ...any) Answer {
	return Answer{Err: &BadAnswer{Why: fmt.Sprintf(format, args...)}}
}

// inFlight has the requests without an answer.
type inFlight struct {
	mu      sync.Mutex
	last    int64
	waiting map[int64]chan Answer
	idle    int   // messages received since the last request
	lost    error // the first error of writing
}

// add returns the next id, and the channel for its answer.
func (f *inFlight) add() (int64, chan Answer) {
	answer := make(chan Answer, 1)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.last++
	f.waiting[f.last] = answer
	f.idle = 0
	return f.last, answer
}

// settle delivers the answer to a request, and reports whether it waited for one.
func (f *inFlight) settle(id int64, a Answer) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	answer, ok := f.waiting[id]
	if ok {
		delete(f.waiting, id)
		answer <- a
	}
	return ok
}

// failAll delivers the same error to every request, and reports whether it had any.
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

// received counts a message, and returns how many arrived in a row without a request.
func (f *inFlight) received() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.waiting) == 0 {
		f.idle++
	}
	return f.idle
}

// respond delivers a response, and reports whether a request waited for it. An error with
// the id null, by which JSON-RPC reports an unreadable request, fails every request.
func (f *inFlight) respond(m *Message) bool {
	id, ok := m.Number()
	switch {
	case isNull(m.ID) && m.Error != nil:
		return f.failAll(m.Error)
	case ok && m.Error != nil:
		return f.settle(id, Answer{Err: m.Error})
	case ok:
		return f.settle(id, Answer{Result: m.Result})
	}
	id, ok = quotedID(m.ID)
	return ok && f.settle(id, badAnswer("the response has the id %s, the request had %d", m.ID, id))
}

// quotedID returns the number in quotes.
func quotedID(raw json.RawMessage) (int64, bool) {
	if len(raw) == 0 || raw[0] != '"' {
		return 0, false
	}
	id, err := strconv.ParseInt(string(jsontext.Unquote(raw)), 10, 64)
	return id, err == nil
}
