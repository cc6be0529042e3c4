package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/bentobuild/bento/adapters"
)

// live runs a plugin: it starts processes until one fails for good, or until ctx is done.
// Only live changes the state.
func (p *Plugin) live(ctx context.Context) {
	defer close(p.ended)
	var ends endings
	for {
		s, f := p.launch(ctx)
		if f != nil {
			p.conclude(ctx, f)
			return
		}
		p.set(Ready, s, nil)
		since := time.Now()
		select {
		case <-s.done:
		case <-ctx.Done():
			s.shutdown(p.o.Shutdown)
			p.set(Stopped, nil, nil)
			return
		}
		f = p.blame(s.reason())
		if f.Code != adapters.Crashed {
			p.conclude(ctx, f)
			return
		}
		ends.add(p.o.Numbers, time.Since(since))
		if ends.tooMany(p.o.Numbers) {
			p.set(Quarantined, nil, quarantine(f, &ends, p.o.Numbers, hint(adapters.Quarantined, p.o.ID, "")))
			return
		}
		p.set(Restarting, nil, f)
		if !pause(ctx, p.o.Numbers.pause(ends.row)) {
			p.set(Stopped, nil, nil)
			return
		}
	}
}

// pause waits for d, and reports whether ctx was not done before.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// conclude sets the final state: failed, or stopped if ctx is done.
func (p *Plugin) conclude(ctx context.Context, f *adapters.Failure) {
	if ctx.Err() != nil {
		p.set(Stopped, nil, nil)
		return
	}
	p.set(Failed, nil, f)
}

// quarantine returns the failure of a plugin whose processes ended too often.
func quarantine(last *adapters.Failure, ends *endings, n Numbers, hint string) *adapters.Failure {
	q := *last
	q.Code = adapters.Quarantined
	q.Message = fmt.Sprintf("it exited %d times within %v, the last time: %s", len(ends.recent), n.Window, last.Message)
	q.Hint = hint
	return &q
}

// launch starts a process and does the handshake with it.
func (p *Plugin) launch(ctx context.Context) (*session, *adapters.Failure) {
	began := time.Now()
	p.tail.Reset()
	stream, err := p.o.Launcher.Launch(ctx, p.tail)
	if err != nil {
		var known *adapters.Failure
		if errors.As(err, &known) {
			return nil, p.fault(known.Code, known.Message)
		}
		return nil, p.fault(adapters.LaunchFailed, err.Error())
	}
	s := newSession(stream, &p.o, p.sinks.notified)
	terms, err := p.hello(ctx, s)
	if err != nil {
		s.stream.End(true)
		<-s.done
		return nil, p.refuse(err)
	}
	s.terms = terms
	p.mu.Lock()
	p.took = time.Since(began)
	if p.slots == nil {
		p.slots = make(chan struct{}, max(1, terms.Parallel))
	}
	p.mu.Unlock()
	return s, nil
}

// hello does the handshake within its timeout.
func (p *Plugin) hello(ctx context.Context, s *session) (Terms, error) {
	until := time.Now().Add(p.o.Numbers.Handshake)
	var method string
	terms, err := p.o.Hello(ctx, func(m string, params any) (json.RawMessage, error) {
		method = m
		return s.call(ctx, m, params, time.Until(until))
	})
	if err != nil {
		return terms, &handshakeError{method, err}
	}
	return terms, nil
}

// handshakeError is the error of a handshake with its call.
type handshakeError struct {
	method string
	err    error
}

func (e *handshakeError) Error() string { return e.err.Error() }
func (e *handshakeError) Unwrap() error { return e.err }

// refuse returns the failure of a handshake. Only an error in the stream itself keeps its
// own code.
func (p *Plugin) refuse(err error) *adapters.Failure {
	var (
		f    *adapters.Failure
		over *ended
		in   *handshakeError
	)
	code, message := adapters.HandshakeFailed, err.Error()
	switch {
	case errors.As(err, &f):
		code, message = f.Code, f.Message
	case errors.As(err, &over) && over.code == adapters.MalformedResponse:
		code = over.code
	}
	f = p.fault(code, message)
	if errors.As(err, &in) {
		f.Call = in.method
	}
	return f
}
