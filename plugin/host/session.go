package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/plugin/wire"
)

// session is a process of a plugin that only answers.
type session struct {
	*process
	client *wire.Client
	terms  Terms
	writes sync.WaitGroup

	writing  sync.Mutex
	odd      string // the last message that was ignored
	deafened bool   // no write begins any more
}

// newSession returns the session of a launched process.
func newSession(stream *Stream, o *Options, notified func(method string, params json.RawMessage) bool) *session {
	s := &session{process: newProcess(stream, o.Numbers)}
	s.client = wire.NewClient(stream.Stdout, stream.Stdin, wire.ClientOptions{
		Limits: o.Numbers.Wire,
		Odd:    s.passedOver,
		Trace:  o.Trace,
		Notify: func(method string, params json.RawMessage) {
			if !notified(method, params) {
				s.passedOver(fmt.Sprintf("a notification %.60q", method))
			}
		},
	})
	go s.watch(s.client, s.endWrites)
	return s
}

func (s *session) passedOver(what string) {
	s.writing.Lock()
	defer s.writing.Unlock()
	s.odd = what
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

// write sends on a separate goroutine, since the plugin may not read.
func (s *session) write(send func() error) <-chan error {
	written := make(chan error, 1)
	s.writing.Lock()
	defer s.writing.Unlock()
	if s.deafened { // the streams are closed, so a write cannot block any more
		written <- send()
	} else {
		s.writes.Go(func() { written <- send() })
	}
	return written
}

// endWrites waits for the writes to the closed streams, and prevents further ones.
func (s *session) endWrites() {
	s.writing.Lock()
	s.deafened = true
	s.writing.Unlock()
	s.writes.Wait()
}

// last returns an answer that arrived before the end, or the reason of the end.
func (s *session) last(call *wire.Call) (json.RawMessage, error) {
	select {
	case a := <-call.Answered():
		return a.Result, a.Err
	default:
		return nil, s.reason()
	}
}

// late returns the message of a timeout, with the bytes that arrived in place of the answer.
func (s *session) late(method string, within time.Duration) string {
	s.writing.Lock()
	defer s.writing.Unlock()
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
		s.end(adapters.Timeout, deafened)
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
