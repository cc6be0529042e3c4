package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/plugin/wire"
)

// ResidentOptions describe one resident. Functions that may be nil are marked. The resident's own
// goroutine calls all of them, one at a time.
type ResidentOptions struct {
	ID       string // for failures
	Path     string // for failures: of the executable
	Launcher Launcher
	Numbers  Numbers // of Extension, with the changes of the contract
	Eager    bool    // it starts at once, and again after a failure, without a call
	// Earlier are the failures of earlier residents of the same program, oldest first. Those within
	// Numbers.Window count.
	Earlier []time.Time

	// Connect makes the connection with a launched process, whose streams it then owns. It
	// returns when ctx is done, which has the timeout of the handshake, and when the process
	// exits.
	Connect func(ctx context.Context, s *Stream) (*wire.Peer, error)
	// Hello is the handshake. If it fails, the message of the failure is that of the error.
	Hello func(ctx context.Context, p *wire.Peer) error
	// Ended is called after a connected process has ended, before calls fail and before the
	// next start. It may be nil.
	Ended func(p *wire.Peer)
	// Shutdown returns the last request. The stream to the process is closed after the request, or after
	// its answer if that arrives within Await.
	Shutdown func(why Ending) (method string, params any)
	Await    time.Duration
	// Keep reports whether an idle process must stay. It may be nil.
	Keep func() bool
	// Changed receives each new state, with the failure behind it. It may be nil.
	Changed func(s State, f *adapters.Failure)

	Hint   func(code adapters.Code) string // the advice for a user about a failure; may be nil
	Stderr io.Writer                       // gets its stderr, unchanged; nil discards it
}

// Ending is why a process is shut down.
type Ending string

// The endings.
const (
	Closing   Ending = "closing" // by Close
	Reloading Ending = "reloading"
	Idling    Ending = "idling" // after Numbers.Idle without use
)

// Resident is a long-lived extension: it runs one process after another, which also sends requests. It
// starts a process at the first call, and ends it when nothing uses it. After a failure it starts the next
// one after a pause, until too many have failed. Then only Reload helps. Its methods may be called
// concurrently.
type Resident struct {
	o      ResidentOptions
	tail   *Tail
	stop   context.CancelFunc
	ended  chan struct{} // closed when the state is Stopped and all processes have ended
	wake   chan struct{} // has a value when a call waits for a process
	reload chan chan<- struct{}

	answered atomic.Pointer[time.Time] // when the process answered the last request; nil before

	mu      sync.Mutex
	state   State
	since   time.Time         // of the state
	current *process          // from its connection to its end
	failure *adapters.Failure // the last one, until Ready or Reload
	failed  int               // the number of failures
	changed chan struct{}     // closed at the next change
	calls   int               // in flight
	used    time.Time
}

// Reside returns a resident. The caller must close it. It lives until then, even after ctx is done.
func Reside(ctx context.Context, o ResidentOptions) *Resident {
	o.Numbers = o.Numbers.withDefaults()
	life, stop := context.WithCancel(context.WithoutCancel(ctx))
	r := &Resident{
		o:       o,
		tail:    NewTail(o.Numbers.StderrTail, o.Stderr),
		stop:    stop,
		ended:   make(chan struct{}),
		wake:    make(chan struct{}, 1),
		reload:  make(chan chan<- struct{}),
		state:   Idle,
		since:   time.Now(),
		changed: make(chan struct{}),
	}
	go r.live(life)
	return r
}

// State returns the state, and the failure behind it.
func (r *Resident) State() (State, *adapters.Failure) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.state, r.failure
}

// Pid returns the process id, 0 without a process.
func (r *Resident) Pid() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.current == nil {
		return 0
	}
	return r.current.stream.Pid
}

// Peer returns the connection with a ready process, nil for none.
func (r *Resident) Peer() *wire.Peer {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.state != Ready || r.current.over() {
		return nil
	}
	return r.current.peer
}

// Use notes a use of the process, so that it is not idle.
func (r *Resident) Use() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.used = time.Now()
}

// Close ends the process: the last request, after Numbers.Shutdown SIGTERM, and after
// Numbers.Term SIGKILL to all descendants. Running calls fail. It returns when all processes
// have ended.
func (r *Resident) Close() {
	r.stop()
	<-r.ended
}

// Reload ends the process and forgets all failures. It returns when the resident is idle, or
// starts again if it is eager.
func (r *Resident) Reload() {
	done := make(chan struct{})
	select {
	case r.reload <- done:
		<-done
	case <-r.ended:
	}
}

// End kills the process behind p, which is a failure. It has no effect if that process has ended.
func (r *Resident) End(p *wire.Peer, code adapters.Code, what string) {
	r.mu.Lock()
	c := r.current
	r.mu.Unlock()
	if c != nil && c.peer == p {
		c.end(code, what)
	}
}

// Call starts the process if none is running, sends it the request and returns the result. Of c it uses
// only Method, Params and Within. The timeout begins when the process is ready, and does not end the
// process.
//
// The error is a *wire.RPCError if the process answered with one, the error of ctx if that is done first,
// else a *adapters.Failure.
func (r *Resident) Call(ctx context.Context, c Call) (json.RawMessage, error) {
	k, err := r.wait(ctx)
	if err != nil {
		return nil, err
	}
	defer r.busy()()
	within := c.Within
	if within == 0 {
		within = r.o.Numbers.Query
	}
	timed, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	result, err := k.peer.Call(timed, c.Method, c.Params)
	return result, r.explain(ctx, k, c, err)
}

// busy notes a call in flight until the returned function is called.
func (r *Resident) busy() func() {
	count := func(n int) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.calls += n
		r.used = time.Now()
	}
	count(1)
	return func() { count(-1) }
}

// explain returns the failure for the error of a call.
func (r *Resident) explain(ctx context.Context, k *process, c Call, err error) error {
	var (
		rpc *wire.RPCError
		bad *wire.BadAnswer
		f   *adapters.Failure
	)
	switch {
	case err == nil || errors.As(err, &rpc):
		return err
	case errors.As(err, &bad):
		f = r.fault(adapters.MalformedResponse, bad.Why)
	case errors.Is(err, wire.ErrTooLarge) && !closed(k.peer.Done()): // and not sent
		f = r.fault(adapters.RPCError, err.Error())
	case closed(k.peer.Done()) || !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, context.Canceled):
		<-k.done
		f = r.fault(k.reason().code, k.reason().what)
	case ctx.Err() != nil:
		return ctx.Err()
	default:
		f = r.fault(adapters.Timeout, fmt.Sprintf("timed out: no answer to %s", c.Method))
	}
	f.Call = c.Method
	return f
}

// Wait starts the process if none is running, and returns the connection once it is ready. Its errors are
// those of Call.
func (r *Resident) Wait(ctx context.Context) (*wire.Peer, error) {
	k, err := r.wait(ctx)
	if err != nil {
		return nil, err
	}
	r.Use()
	return k.peer, nil
}

// wait waits for a process that can answer, and starts one if none is running. It returns the first
// failure that occurs meanwhile.
func (r *Resident) wait(ctx context.Context) (*process, error) {
	before := -1
	for {
		r.mu.Lock()
		state, c, f, failed, changed := r.state, r.current, r.failure, r.failed, r.changed
		r.mu.Unlock()
		over := state == Ready && c.over() // the failure is counted at once
		if before < 0 && !over {
			before = failed
		}
		switch {
		case state == Ready && !over:
			return c, nil
		case state == Stopped:
			return nil, r.fault(adapters.Crashed, "it was shut down")
		case state == Quarantined, state == Failed, before >= 0 && failed > before:
			return nil, f
		}
		if state == Idle || state == Restarting || state == Stopping {
			select {
			case r.wake <- struct{}{}:
			default:
			}
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (r *Resident) fault(code adapters.Code, message string) *adapters.Failure {
	return &adapters.Failure{
		Code: code, Adapter: r.o.ID, Path: r.o.Path, Message: wire.Plain(message), Stderr: r.tail.String(), Hint: r.hint(code),
	}
}

func (r *Resident) hint(code adapters.Code) string {
	if r.o.Hint == nil {
		return ""
	}
	return r.o.Hint(code)
}
