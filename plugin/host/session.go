package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/creachadair/jrpc2/channel"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/plugin/wire"
)

// session is a process of a plugin that only answers.
type session struct {
	*process
	terms Terms

	noting sync.Mutex
	odd    string // the last message that was ignored
}

// newSession returns the session of a launched process.
func newSession(stream *Stream, o *Options, notified func(method string, params json.RawMessage) bool) *session {
	s := &session{}
	peer := wire.NewPeer(wire.NewConn(stream.Stdout, stream.Stdin, o.Numbers.Wire), wire.PeerOptions{
		Odd:   s.passedOver,
		Trace: o.Trace,
		Notify: func(method string, params json.RawMessage) {
			if !notified(method, params) {
				s.passedOver(fmt.Sprintf("a notification %.60q", method))
			}
		},
	})
	s.process = watched(stream, peer, o.Numbers)
	return s
}

func (s *session) passedOver(what string) {
	s.noting.Lock()
	defer s.noting.Unlock()
	s.odd = what
}

// call asks the plugin and waits for the answer, the end of the session, the timeout, or
// ctx. The timeout includes the write, and ends the session.
func (s *session) call(ctx context.Context, method string, params any, within time.Duration) (json.RawMessage, error) {
	q, err := s.peer.Ask(method, params)
	if errors.Is(err, channel.ErrClosed) {
		<-s.done
		return nil, s.reason()
	}
	if err != nil {
		return nil, err
	}
	defer q.Drop()
	written := q.Written()
	deadline := time.NewTimer(within)
	defer deadline.Stop()
	for {
		select {
		case a := <-q.Answered():
			return a.Result, a.Err
		case err := <-written:
			if written = nil; err != nil {
				return nil, s.deaf(err)
			}
		case <-s.done:
			return s.last(q)
		case <-deadline.C:
			s.end(adapters.Timeout, s.late(method, within))
			<-s.done
			return s.last(q)
		case <-ctx.Done():
			s.cancel(q)
			return nil, ctx.Err()
		}
	}
}

// last returns an answer that arrived before the end, or the reason of the end.
func (s *session) last(q *wire.Question) (json.RawMessage, error) {
	select {
	case a := <-q.Answered():
		return a.Result, a.Err
	default:
		return nil, s.reason()
	}
}

// late returns the message of a timeout, with the bytes that arrived in place of the answer.
func (s *session) late(method string, within time.Duration) string {
	s.noting.Lock()
	defer s.noting.Unlock()
	what := fmt.Sprintf("timed out after %v: no answer to %s", within.Round(time.Millisecond), method)
	if s.odd != "" {
		what += "; it wrote " + s.odd
	}
	if begun := s.peer.Unfinished(); begun != "" {
		what += "; " + begun
	}
	return what
}

// deaf handles a plugin that cannot be written to: one that is about to exit, or one that
// only closed its stdin.
func (s *session) deaf(err error) error {
	if errors.Is(err, wire.ErrSendTimeout) {
		s.end(adapters.Timeout, deafened)
	} else if !wait(s.done, s.n.Drain) && !s.exited() && !closed(s.peer.Done()) {
		s.end(adapters.Crashed, "it closed its standard input")
	}
	<-s.done
	return s.reason()
}

// cancel ends a call whose caller gave up: by $/cancel, if the plugin knows it, else by
// ending the plugin.
func (s *session) cancel(q *wire.Question) {
	if !s.terms.Cancel || !s.asksCancel(q) {
		s.terminate("it was ended because a call was cancelled")
	}
}

// asksCancel sends the notification, after the request, and reports whether the call ended
// in time.
func (s *session) asksCancel(q *wire.Question) bool {
	timer := time.NewTimer(s.n.Cancel)
	defer timer.Stop()
	_ = s.peer.Post(wire.NotifyCancel, wire.Cancel{ID: q.ID()}) // it may have ended
	select {
	case <-q.Answered():
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
	s.closing.Store(true)
	q, err := s.peer.Ask(method, nil)
	if err != nil {
		return false
	}
	defer q.Drop()
	timer := time.NewTimer(s.n.Shutdown)
	defer timer.Stop()
	answered := q.Answered() // a plugin that cannot be written to may be about to exit
	for {
		select {
		case <-s.done:
			return true
		case <-answered:
			answered = nil
			s.peer.Leave() // no more questions follow
		case <-timer.C:
			return false
		}
	}
}
