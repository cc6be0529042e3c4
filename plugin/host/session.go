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

// session is one process of a plugin, from its launch to its end.
type session struct {
	n      Numbers
	stream *Stream
	client *wire.Client
	terms  Terms
	writes sync.WaitGroup
	done   chan struct{} // closed when the process has ended and its streams are closed
	status string        // how the process ended; set before done is closed

	closing atomic.Bool // it was asked to shut down

	mu       sync.Mutex
	cause    *ended // the first reason to end; set when done is closed
	odd      string // the last message that was ignored
	deafened bool   // no write begins any more
}

// ended is the error of a call whose session is over.
type ended struct {
	code adapters.Code
	what string
}

func (e *ended) Error() string { return e.what }

// newSession returns the session of a launched process.
func newSession(stream *Stream, o *Options, notified func(method string, params json.RawMessage) bool) *session {
	n := o.Numbers
	s := &session{n: n, stream: stream, done: make(chan struct{})}
	s.client = wire.NewClient(stream.Stdout, stream.Stdin, wire.ClientOptions{
		Limits: n.Wire,
		Odd:    s.passedOver,
		Trace:  o.Trace,
		Notify: func(method string, params json.RawMessage) {
			if !notified(method, params) {
				s.passedOver(fmt.Sprintf("a notification %.60q", method))
			}
		},
	})
	go s.watch()
	return s
}

func (s *session) passedOver(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.odd = what
}

// over reports whether the session has ended.
func (s *session) over() bool {
	select {
	case <-s.done:
		return true
	default:
		return false
	}
}

// exited reports whether the process has ended; the session may still have to read its
// output.
func (s *session) exited() bool {
	select {
	case <-s.stream.Exited:
		return true
	default:
		return false
	}
}

// watch waits for the end of the process or of its stdout, then handles the other.
func (s *session) watch() {
	defer close(s.done)
	select {
	case <-s.stream.Exited:
	case <-s.client.Done():
		if err := s.client.Err(); errors.Is(err, wire.ErrMalformed) {
			s.end(adapters.MalformedResponse, err.Error())
		}
		if !s.closing.Load() { // otherwise shutdown does
			wait(s.stream.Exited, s.n.Drain)
			s.stream.End(true)
		}
	}
	s.status = s.stream.Wait()
	// The pipe may still hold the last output of the process, and a descendant may keep it
	// open.
	wait(s.client.Done(), s.n.Drain)
	s.client.Close()
	s.endWrites()
	s.conclude()
}

// conclude sets the reason if none is set yet.
func (s *session) conclude() {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.client.Err()
	switch {
	case s.cause != nil && s.cause.code == adapters.Crashed:
		s.cause = &ended{adapters.Crashed, fmt.Sprintf("%s (%s)", s.cause.what, s.status)}
	case s.cause != nil:
	case errors.Is(err, wire.ErrMalformed):
		s.cause = &ended{adapters.MalformedResponse, err.Error()}
	case errors.Is(err, io.ErrUnexpectedEOF):
		s.cause = &ended{adapters.Crashed, fmt.Sprintf("it ended in the middle of a message (%s)", s.status)}
	default:
		s.cause = &ended{adapters.Crashed, fmt.Sprintf("it exited (%s)", s.status)}
	}
}

// end sets the reason, if none is set yet, and kills the process.
func (s *session) end(code adapters.Code, what string) {
	s.mu.Lock()
	if s.cause == nil {
		s.cause = &ended{code, what}
	}
	s.mu.Unlock()
	s.stream.End(true)
}

// wait waits for c to be closed, at most atMost, and reports whether it was.
func wait(c <-chan struct{}, atMost time.Duration) bool {
	timer := time.NewTimer(atMost)
	defer timer.Stop()
	select {
	case <-c:
		return true
	case <-timer.C:
		return false
	}
}

// call asks the plugin and waits for the answer, the end of the session, the timeout, or
// ctx. The timeout includes the write, and ends the session.
func (s *session) call(ctx context.Context, method string, params any, within time.Duration) (json.RawMessage, error) {
	call, err := s.client.Prepare(method, params)
	if err != nil {
		return nil, err
	}
	defer call.Drop()
	written := s.write(call.Send)
	deadline := time.NewTimer(within)
	defer deadline.Stop()
	for {
		select {
		case a := <-call.Answered():
			return a.Result, a.Err
		case err := <-written:
			if written = nil; err != nil {
				return nil, s.deaf(err)
			}
		case <-s.done:
			return s.last(call)
		case <-deadline.C:
			s.end(adapters.Timeout, s.late(method, within))
			<-s.done
			return s.last(call)
		case <-ctx.Done():
			s.cancel(call, written)
			return nil, ctx.Err()
		}
	}
}

// write sends on a goroutine of its own, since the plugin may not read.
func (s *session) write(send func() error) <-chan error {
	written := make(chan error, 1)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.deafened { // the streams are closed, so a write cannot block any more
		written <- send()
	} else {
		s.writes.Go(func() { written <- send() })
	}
	return written
}

// endWrites waits for the writes to the closed streams, and prevents further ones.
func (s *session) endWrites() {
	s.mu.Lock()
	s.deafened = true
	s.mu.Unlock()
	s.writes.Wait()
}

// last returns an answer that came before the end, or the reason of the end.
func (s *session) last(call *wire.Call) (json.RawMessage, error) {
	select {
	case a := <-call.Answered():
		return a.Result, a.Err
	default:
		return nil, s.reason()
	}
}

func (s *session) reason() *ended {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cause
}

// late returns the message of a timeout, with what came instead of the answer.
func (s *session) late(method string, within time.Duration) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	what := fmt.Sprintf("timed out after %v: no answer to %s", within.Round(time.Millisecond), method)
	if s.odd != "" {
		what += "; it wrote " + s.odd
	}
	if begun := s.client.Unfinished(); begun != "" {
		what += "; " + begun
	}
	return what
}

// deaf handles a plugin that cannot be written to: one that is about to exit, or one that
// only closed its stdin.
func (s *session) deaf(err error) error {
	if errors.Is(err, wire.ErrSendTimeout) {
		s.end(adapters.Timeout, "it does not read its standard input")
	} else if !wait(s.done, s.n.Drain) && !s.exited() {
		s.end(adapters.Crashed, "it closed its standard input")
	}
	<-s.done
	return s.reason()
}

// cancel ends a call whose caller gave up: by $/cancel, if the plugin knows it, else by
// ending the plugin. While written is not nil the request is still being written.
func (s *session) cancel(call *wire.Call, written <-chan error) {
	if !s.terms.Cancel || !s.asksCancel(call, written) {
		s.terminate("it was ended because a call was cancelled")
	}
}

// asksCancel sends the notification, after the request, and reports whether the call ended
// in time.
func (s *session) asksCancel(call *wire.Call, written <-chan error) bool {
	timer := time.NewTimer(s.n.Cancel)
	defer timer.Stop()
	s.write(func() error {
		if written != nil {
			<-written
		}
		return s.client.Notify(wire.NotifyCancel, wire.Cancel{ID: call.ID()})
	})
	select {
	case <-call.Answered():
	case <-s.done:
	case <-timer.C:
		return false
	}
	return true
}

// terminate asks the process to end, then kills it.
func (s *session) terminate(what string) {
	s.stream.End(false)
	if !wait(s.done, s.n.Term) {
		s.end(adapters.Crashed, what)
		<-s.done
	}
}

// shutdown ends the session as the contract requires: a request, then SIGTERM, then
// SIGKILL.
func (s *session) shutdown(method string) {
	if method != "" && s.asksShutdown(method) {
		return
	}
	s.terminate("it was shut down")
}

// asksShutdown sends the request, and reports whether the process ended in time.
func (s *session) asksShutdown(method string) bool {
	call, err := s.client.Prepare(method, nil)
	if err != nil {
		return false
	}
	defer call.Drop()
	s.closing.Store(true)
	timer := time.NewTimer(s.n.Shutdown)
	defer timer.Stop()
	s.write(call.Send) // a plugin that cannot be written to may be about to exit
	answered := call.Answered()
	for {
		select {
		case <-s.done:
			return true
		case <-answered:
			answered = nil
			s.stream.Stdin.Close() // no more questions follow
		case <-timer.C:
			return false
		}
	}
}
