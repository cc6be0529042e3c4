// Package host runs one plugin and talks to it, so that the plugin can neither
// hang its caller nor outlive it.
//
// A Plugin is a process, or a row of them: one that exits is started again, after
// a pause that grows, until it has exited too often. One that does not answer in
// time, or breaks the protocol, is ended and not started again. Every call ends
// by its deadline with an answer or a failure that has a code, and Close leaves no
// process behind. What is said in a contract's own words (the handshake, the
// methods) is the business of the packages above this one.
package host

import (
	"context"
	"encoding/json"
	"io"
	"sync"
	"time"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/plugin/host/tail"
)

// Options describe one plugin.
type Options struct {
	ID       string // for failures
	Path     string // for failures: of the executable
	Launcher Launcher
	Numbers  Numbers

	// Hello is the contract's handshake, done with each new process; ask is a call
	// under the handshake's deadline. A *adapters.Failure that it returns needs no
	// more than Code and Message; any other error is a HandshakeFailed.
	Hello func(ctx context.Context, ask AskFunc) (Terms, error)
	// Shutdown is the method that asks the plugin to end; "" when there is none.
	Shutdown string

	Stderr io.Writer // gets what the plugin writes there, unchanged; nil: nobody
	// Log gets the progress that is told while no call listens, one at a time. It
	// may be nil.
	Log adapters.LogFunc
	// Trace is told of each body that is sent or received, on several goroutines at
	// once; it may be nil.
	Trace func(sent bool, body []byte)
}

// AskFunc makes one call.
type AskFunc func(method string, params any) (json.RawMessage, error)

// Terms are what a handshake agreed on.
type Terms struct {
	Parallel int  // calls that may be in flight; 0 and 1 mean one
	Cancel   bool // the plugin knows $/cancel
}

// State is where a plugin is in its life.
type State string

// The states. From Failed, Quarantined and Stopped there is no way back.
const (
	Starting    State = "starting"
	Ready       State = "ready"
	Restarting  State = "restarting" // it exited, and waits for its next start
	Failed      State = "failed"
	Quarantined State = "quarantined"
	Stopped     State = "stopped"
)

func (s State) final() bool { return s == Failed || s == Quarantined || s == Stopped }

// Plugin is a running plugin. Its methods may be called concurrently.
type Plugin struct {
	o     Options
	tail  *tail.Tail
	sinks sinks
	slots chan struct{} // one for each call that may be in flight
	stop  context.CancelFunc
	ended chan struct{} // closed when the state is final and no process is left

	mu      sync.Mutex
	state   State
	current *session          // of Ready
	failure *adapters.Failure // of Restarting, Failed and Quarantined
	changed chan struct{}     // closed at the next change
	broke   *Call             // the first that found out that it is Failed or Quarantined
	took    time.Duration
}

// Start starts a plugin and waits for its handshake. The error is a
// *adapters.Failure, or that of ctx; nothing is left running then. A plugin that
// was started has to be closed, and lives until then, not until ctx is done.
func Start(ctx context.Context, o Options) (*Plugin, error) {
	o.Numbers = o.Numbers.withDefaults()
	life, stop := context.WithCancel(context.WithoutCancel(ctx))
	p := &Plugin{
		o:       o,
		tail:    tail.New(o.Numbers.StderrTail, o.Stderr),
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

// State gives the state and, when something is wrong, why.
func (p *Plugin) State() (State, *adapters.Failure) {
	p.mu.Lock()
	state, s, f := p.state, p.current, p.failure
	p.mu.Unlock()
	if state == Ready && s.over() { // the next state is about to be set
		f = p.blame(s.reason())
		state = Failed
		if f.Code == adapters.Crashed {
			state = Restarting
		}
	}
	return state, f
}

// Handshake is how long the last start took, from the launch to the end of the
// handshake.
func (p *Plugin) Handshake() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.took
}

// Close asks the plugin to shut down, then ends it: a while after the request with
// SIGTERM, a while after that with SIGKILL, both sent to all its descendants.
// Calls in flight fail. It returns when no process is left.
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

// ready waits for a process that can be asked.
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
