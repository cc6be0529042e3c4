package host

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/plugin/wire"
)

// process is one process with its connection, from its launch to its end.
type process struct {
	n      Numbers
	stream *Stream
	peer   *wire.Peer
	done   chan struct{} // closed when the process has ended and its streams are closed
	status string        // how the process ended; set before done is closed

	closing atomic.Bool // it was asked to shut down

	mu    sync.Mutex
	cause *ended // the first reason to end; set when done is closed
}

// watched returns the process of a stream, which a goroutine watches until its end.
func watched(stream *Stream, peer *wire.Peer, n Numbers) *process {
	p := &process{n: n, stream: stream, peer: peer, done: make(chan struct{})}
	go p.watch()
	return p
}

// ended is the error of a call whose process is over.
type ended struct {
	code adapters.Code
	what string
}

func (e *ended) Error() string { return e.what }

// over reports whether the process and its streams have ended.
func (p *process) over() bool { return closed(p.done) }

// exited reports whether the process has ended. Its output may still be unread.
func (p *process) exited() bool { return closed(p.stream.Exited) }

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// watch waits for the end of the process or of its connection, then handles the other.
func (p *process) watch() {
	defer close(p.done)
	select {
	case <-p.stream.Exited:
	case <-p.peer.Done():
		p.blame(p.peer.Err())
		if !p.closing.Load() { // otherwise shutdown does
			if !wait(p.stream.Exited, p.n.Drain) {
				p.because(adapters.Crashed, silenced(p.peer.Err()))
			}
			p.stream.End(true)
		}
	}
	p.status = p.stream.Wait()
	// The pipe may still hold the last output of the process, and a descendant may keep it
	// open.
	wait(p.peer.Done(), p.n.Drain)
	p.peer.Close()
	p.conclude(p.peer.Err())
}

// blame ends the process because of an error of its connection, if the process is at fault.
func (p *process) blame(err error) {
	switch {
	case errors.Is(err, wire.ErrMalformed):
		p.end(adapters.MalformedResponse, err.Error())
	case errors.Is(err, wire.ErrSendTimeout):
		p.end(adapters.Timeout, deafened)
	}
}

const deafened = "it does not read its standard input"

// silenced describes a process that still runs after the end of its output.
func silenced(err error) string {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return "it closed its standard output in the middle of a message"
	}
	return "it closed its standard output"
}

// conclude sets the reason if none is set yet.
func (p *process) conclude(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.cause != nil && p.cause.code == adapters.Crashed:
		p.cause = &ended{adapters.Crashed, fmt.Sprintf("%s (%s)", p.cause.what, p.status)}
	case p.cause != nil:
	case errors.Is(err, wire.ErrMalformed):
		p.cause = &ended{adapters.MalformedResponse, err.Error()}
	case errors.Is(err, wire.ErrSendTimeout): // it may have exited for the closed streams
		p.cause = &ended{adapters.Timeout, deafened}
	case errors.Is(err, io.ErrUnexpectedEOF):
		p.cause = &ended{adapters.Crashed, fmt.Sprintf("it ended in the middle of a message (%s)", p.status)}
	default:
		p.cause = &ended{adapters.Crashed, fmt.Sprintf("it exited (%s)", p.status)}
	}
}

// because sets the reason to end, if none is set yet.
func (p *process) because(code adapters.Code, what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cause == nil {
		p.cause = &ended{code, what}
	}
}

// end sets the reason, if none is set yet, and kills the process.
func (p *process) end(code adapters.Code, what string) {
	p.because(code, what)
	p.stream.End(true)
}

// reason returns, after done, why the process has ended.
func (p *process) reason() *ended {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cause
}

// terminate asks the process to end, then kills it.
func (p *process) terminate(what string) {
	p.stream.End(false)
	if !wait(p.done, p.n.Term) {
		p.end(adapters.Crashed, what)
		<-p.done
	}
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
