// Package host runs one plugin and talks to it, so that the plugin can neither hang its
// caller nor outlive it.
//
// A Plugin runs one process after another. A process that exits is started again, after a pause that
// grows, until too many have exited. A process that times out or breaks the protocol is ended and not
// started again. Every call ends by its timeout with an answer or a failure with a code, and Close leaves
// no process behind. The packages above define the handshake and the methods. A Resident is the same for
// an extension, which also sends requests.
package host

import (
	"context"
	"encoding/json"
	"io"
	"sync"
	"time"

	"github.com/bentobuild/bento/adapters"
)

// Options describe one plugin.
type Options struct {
	ID       string // for failures
	Path     string // for failures: of the executable
	Launcher Launcher
	Numbers  Numbers

	// Hello is the contract's handshake, done with each new process; ask is a call under
	// the handshake's timeout. A *adapters.Failure that it returns needs only Code and
	// Message; any other error is a HandshakeFailed.
	Hello func(ctx context.Context, ask AskFunc) (Terms, error)
	// Shutdown is the method that asks the plugin to end, or "".
	Shutdown string

	Stderr io.Writer // gets the plugin's stderr, unchanged; nil discards it
	// Log receives progress outside of calls with a Log, one call at a time. It may be nil.
	Log adapters.LogFunc
	// Trace receives each body that is sent or received, on several goroutines at once; it
	// may be nil.
	Trace func(sent bool, body []byte)
}

// AskFunc makes one call.
type AskFunc func(method string, params any) (json.RawMessage, error)

// Terms are the results of a handshake.
type Terms struct {
	Parallel int  // calls at once; 0 and 1 mean one
	Cancel   bool // the plugin knows $/cancel
}

// State is the state of a plugin's process.
type State string

// The states. Failed, Quarantined and Stopped are final, for a Resident only Stopped.
const (
	Idle        State = "idle" // a Resident without a process
	Starting    State = "starting"
	Ready       State = "ready"
	Stopping    State = "stopping"
	Restarting  State = "restarting" // it exited, and waits for its next start
	Failed      State = "failed"
	Quarantined State = "quarantined"
	Stopped     State = "stopped"
)

func (s State) final() bool { return s == Failed || s == Quarantined || s == Stopped }

// Plugin is a running plugin. Its methods may be called concurrently.
type Plugin struct {
	o     Options
	tail  *Tail
	sinks sinks
	slots chan struct{} // one for each call that may run
	stop  context.CancelFunc
	ended chan struct{} // closed when the state is final and all processes have ended

	mu      sync.Mutex
	state   State
	current *session          // of Ready
	failure *adapters.Failure // of Restarting, Failed and Quarantined
	changed chan struct{}     // closed at the next change
	broke   *Call             // the first call that found it Failed or Quarantined
	took    time.Duration
}

// Start starts a plugin and waits for its handshake. The error is a *adapters.Failure, or that of ctx;
// then no process is left. The caller must close the plugin. The plugin runs until then, even after ctx is
// done.
func Start(ctx context.Context, o Options) (*Plugin, error) {
	o.Numbers = o.Numbers.withDefaults()
	life, stop := context.WithCancel(context.WithoutCancel(ctx))
	p := &Plugin{
		o:       o,
		tail:    NewTail(o.Numbers.StderrTail, o.Stderr),
		stop:    stop,
		ended:   make(chan struct{}),
		state:   Starting,
		changed: make(chan struct{}),
	}
	p.sinks.rest, p.sinks.shape = o.Log, logShape()
	detach := context.AfterFunc(ctx, stop)
	go p.live(life)
	_, err := p.ready(ctx)
	if !detach() {
		err = ctx.Err()
	}
	if err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

// State returns the state, and the failure behind it.
func (p *Plugin) State() (State, *adapters.Failure) {
	p.mu.Lock()
	state, s, f := p.state, p.current, p.failure
	p.mu.Unlock()
	if state == Ready && s.over() { // the next state follows at once
		f = p.blame(s.reason())
		state = Failed
		if f.Code == adapters.Crashed {
			state = Restarting
		}
	}
	return state, f
}

// Handshake returns how long the last start took, from the launch to the end of the
// handshake.
func (p *Plugin) Handshake() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.took
}

// Close asks the plugin to shut down. After Numbers.Shutdown it sends SIGTERM, and after
// Numbers.Term SIGKILL, both to all descendants. Running calls fail. It returns when all
// processes have ended.
func (p *Plugin) Close() {
	p.stop()
	<-p.ended
}

// set changes the state.
func (p *Plugin) set(state State, s *session, f *adapters.Failure) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.state, p.current, p.failure = state, s, f
	close(p.changed)
	p.changed = make(chan struct{})
}

// ready waits for a process that can answer.
func (p *Plugin) ready(ctx context.Context) (*session, error) {
	for {
		p.mu.Lock()
		state, s, f, changed := p.state, p.current, p.failure, p.changed
		p.mu.Unlock()
		switch {
		case state == Ready && !s.over():
			return s, nil
		case state == Stopped:
			return nil, p.fault(adapters.Crashed, "it was shut down")
		case state.final():
			return nil, f
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
