package sep

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/plugin/host"
	"github.com/bentobuild/bento/plugin/sep/manifest"
	"github.com/bentobuild/bento/plugin/wire"
)

// Options describe one extension. The functions are called on several goroutines at once and must
// return soon; they may be nil.
type Options struct {
	Manifest *manifest.Manifest
	Dir      string // of the manifest, absolute
	Entry    *Entry // of the policy; nil for none
	Version  string // of bento
	// Env is bento's environment, from which the extension gets PATH, HOME, LANG and TMPDIR. Set has
	// further variables, which override those of the manifest.
	Env adapters.Environ
	Set map[string]string
	// Check, when set, is called right before each start, and prevents it by an error.
	Check func() error
	// Stdio uses the standard streams of the process rather than a socket.
	Stdio bool
	// Lazy starts the extension with the first event that it receives.
	Lazy bool
	// Earlier are its failures in earlier runs, oldest first.
	Earlier []time.Time

	Provider Provider  // of messages and contacts; nil offers none
	Log      io.Writer // gets what the process writes; nil discards it
	Toast    func(Toast)
	// Audit receives each decision about a permission. A denied extension may ask often.
	Audit func(Decision)
	// Trace receives each message, without the token.
	Trace func(sent bool, body []byte)
	// Changed receives each change of the state, and some statuses twice.
	Changed func(Status)
	// Failed receives each failure once, in its order.
	Failed func(Status)

	// Launcher starts the process; nil for the one of the manifest. The stream of any other is the
	// connection itself.
	Launcher host.Launcher
}

// State is the state of an extension.
type State string

// The states of an extension. One that is never started has no state.
const (
	Waiting     State = "waiting"  // for its first event
	Starting    State = "starting" // until sep.initialize is answered
	Running     State = "running"
	Degraded    State = "degraded" // it says so, or the last health check was missed
	Backoff     State = "backoff"  // it failed, and waits for its next start
	Quarantined State = "quarantined"
	Stopping    State = "stopping"
	Stopped     State = "stopped"
)

// Status is the state of an extension with its causes.
type Status struct {
	State    State             `json:"state"`
	Failure  *adapters.Failure `json:"-"`                // the last one, nil for none
	Reason   string            `json:"reason,omitempty"` // of Failure: the reason of a fault, "" for others
	Counters Counters          `json:"counters"`
}

// Extension is one extension of a run. Its methods may be called concurrently.
type Extension struct {
	o       Options
	api     string // version of this host
	methods []method
	terms   Terms
	socket  *endpoint // nil for another connection
	events  *events
	panels  panels
	counts  counts

	mu       sync.Mutex
	resident *host.Resident // nil while it waits for its first event
	closed   bool
	session  *session // of the current process
	state    host.State
	degraded bool
	failure  *adapters.Failure
	reason   string
}

// Start starts an extension, and does not wait for it. The caller must close it. Start returns an error if
// the extension cannot be started at all: it is off, or the manifest is refused.
func Start(ctx context.Context, o Options) (*Extension, error) {
	return start(ctx, o, APIVersion, methods())
}

func start(ctx context.Context, o Options, api string, methods []method) (*Extension, error) {
	m := o.Manifest
	problems := append(m.Conflicts(), m.Refusals(manifest.Platform())...)
	if len(problems) > 0 {
		return nil, problems
	}
	x := &Extension{o: o.withDefaults(), api: api, methods: methods, terms: Settle(m, o.Entry), events: newEvents(), state: host.Idle}
	if x.terms.Off != "" {
		return nil, &adapters.Failure{Code: adapters.NotTrusted, Adapter: m.ID, Path: m.Path(), Message: x.terms.Off, Hint: "bento ext enable " + m.ID}
	}
	if x.terms.Has(manifest.RegisterTools) {
		for _, p := range m.Panels() {
			x.panels.add(p)
		}
	}
	if o.Launcher == nil {
		launcher, err := newEndpoint(&x.o, x.terms.Startup)
		if err != nil {
			return nil, &adapters.Failure{Code: adapters.LaunchFailed, Adapter: m.ID, Path: m.Path(), Message: err.Error(), Cause: err}
		}
		x.socket, x.o.Launcher = launcher, launcher
	}
	if !o.Lazy {
		x.begin(ctx)
	}
	return x, nil
}

func (o Options) withDefaults() Options {
	if o.Provider == nil {
		o.Provider = none{}
	}
	if o.Log == nil {
		o.Log = io.Discard
	}
	if o.Toast == nil {
		o.Toast = func(Toast) {}
	}
	if o.Audit == nil {
		o.Audit = func(Decision) {}
	}
	if o.Changed == nil {
		o.Changed = func(Status) {}
	}
	if o.Failed == nil {
		o.Failed = func(Status) {}
	}
	return o
}

// begin starts the resident, once.
func (x *Extension) begin(ctx context.Context) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.resident != nil || x.closed {
		return
	}
	n := host.Extension()
	n.Handshake = x.terms.Startup
	n.Shutdown = grace
	n.Wire = wire.Limits{Body: x.terms.Limits.MaxRequestBytes, Sent: maxSent, Strict: true}
	x.resident = host.Reside(ctx, host.ResidentOptions{
		ID: x.o.Manifest.ID, Path: x.o.Manifest.Path(), Launcher: x.o.Launcher, Numbers: n, Eager: true, Earlier: x.o.Earlier,
		Connect: x.connect, Hello: x.hello, Ended: x.ended, Shutdown: x.shutdown, Await: grace, Changed: x.changed, Hint: x.hint, Stderr: x.o.Log,
	})
}

// grace is the time from sep.shutdown to SIGTERM.
const grace = 3 * time.Second

// connect makes the connection with a launched process.
func (x *Extension) connect(ctx context.Context, stream *host.Stream) (*wire.Peer, error) {
	x.counts.change(func(c *Counters) {
		if c.Starts++; c.Starts > 1 {
			c.Restarts++
		}
	})
	in, out, token := stream.Stdout, stream.Stdin, ""
	if x.socket != nil && !x.o.Stdio {
		conn, err := x.socket.accept(ctx, stream)
		if err != nil {
			x.counts.change(func(c *Counters) { c.Exits++ })
			x.reasoned("not_connected")
			return nil, err
		}
		in, out, token = conn, conn, x.socket.token
		stream.Unread = host.UnreadOfSocket(conn)
	}
	s, life := newSession(ctx, x, token)
	x.mu.Lock()
	x.session = s
	x.mu.Unlock()
	return wire.NewPeer(wire.NewConn(in, out, s.limits()), s.hooks(life)), nil
}

// hello does the handshake, then begins to send events and to check the health.
func (x *Extension) hello(ctx context.Context, p *wire.Peer) error {
	s := x.current()
	if err := s.initialize(ctx, p); err != nil {
		return failureOf(err)
	}
	x.healthy(true)
	s.serve(p)
	return nil
}

func (x *Extension) current() *session {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.session
}

// failureOf returns the failure of a fault, and any other error unchanged.
func failureOf(err error) error {
	if f, ok := errors.AsType[*fault](err); ok {
		return &adapters.Failure{Code: f.Code, Message: f.What}
	}
	return err
}

// ended ends the session of a process that has ended.
func (x *Extension) ended(*wire.Peer) {
	x.counts.change(func(c *Counters) { c.Exits++ })
	s := x.current()
	s.end()
	if x.socket != nil {
		x.socket.finish()
	}
	x.reasoned(s.why())
}

// reasoned keeps the exact reason of the failure that follows.
func (x *Extension) reasoned(reason string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.reason = reason
}

func (x *Extension) shutdown(why host.Ending) (string, any) {
	reason := "host_exit"
	if why == host.Reloading {
		reason = "restart"
	}
	s := x.current()
	s.refusing.Store(why == host.Reloading) // else it may finish its work for the last events
	close(s.leaving)
	return "sep.shutdown", map[string]any{"reason": reason, "graceMs": grace.Milliseconds()}
}

// healthy records the result of a health check.
func (x *Extension) healthy(ok bool) {
	x.mu.Lock()
	changed := x.degraded == ok
	x.degraded = !ok
	x.mu.Unlock()
	if changed {
		x.o.Changed(x.Status())
	}
}

// changed follows the resident, on its goroutine.
func (x *Extension) changed(state host.State, f *adapters.Failure) {
	x.mu.Lock()
	x.state = state
	fresh := f != nil && f != x.failure
	if x.failure = f; fresh && f.Code == adapters.LaunchFailed {
		x.reason = string(f.Code)
	}
	if state != host.Ready {
		x.degraded = false
	}
	if state == host.Quarantined {
		x.counts.change(func(c *Counters) { c.Disabled++ })
	}
	x.mu.Unlock()
	x.o.Changed(x.Status())
	if fresh {
		x.o.Failed(x.Status())
	}
}

// Status returns the state and the counters.
func (x *Extension) Status() Status {
	x.mu.Lock()
	defer x.mu.Unlock()
	s := Status{State: Starting, Failure: x.failure, Counters: x.counts.now()}
	if x.failure != nil {
		s.Reason = x.reason
	}
	switch {
	case x.resident == nil && !x.closed:
		s.State = Waiting
	case x.state == host.Failed || x.state == host.Stopped || x.closed && x.resident == nil:
		s.State = Stopped
	case x.state == host.Stopping:
		s.State = Stopping
	case x.state == host.Quarantined:
		s.State = Quarantined
	case x.state == host.Restarting:
		s.State = Backoff
	case x.state == host.Ready && x.degraded:
		s.State = Degraded
	case x.state == host.Ready:
		s.State = Running
	}
	return s
}

// Terms returns the conditions under which the extension runs.
func (x *Extension) Terms() Terms { return x.terms }

// Panels returns the tool panels: those of the manifest and the registered ones.
func (x *Extension) Panels() []manifest.Panel { return x.panels.all() }

// Event queues an event, if the extension has subscribed to it, and never waits. data is a JSON
// object, which must not change any more.
func (x *Extension) Event(ctx context.Context, topic string, data json.RawMessage) {
	if slices.Contains(x.terms.Events, topic) {
		x.queue(ctx, topic, data)
	}
}

func (x *Extension) queue(ctx context.Context, topic string, data json.RawMessage) {
	if n := x.events.add(topic, data, time.Now()); n > 0 {
		x.counts.change(func(c *Counters) { c.Dropped += n })
	}
	if x.o.Lazy {
		x.begin(ctx)
	}
}

// Invoke sends the action of a panel to the extension. With an empty action it sends the panel's own.
func (x *Extension) Invoke(ctx context.Context, panel, action string) error {
	for _, p := range x.panels.all() {
		if p.ID != panel {
			continue
		}
		if action == "" {
			action = p.Action
		}
		data, err := json.Marshal(map[string]string{"panelId": panel, "action": action})
		if err == nil {
			x.queue(ctx, "tool.invoked", data)
		}
		return err
	}
	return fmt.Errorf("the extension %s has no panel %q", x.o.Manifest.ID, panel)
}

// AwaitPanel starts the extension and waits until it has a panel. Otherwise the error is that of ctx, or
// the failure of the extension.
func (x *Extension) AwaitPanel(ctx context.Context, id string) error {
	if !x.terms.Has(manifest.RegisterTools) {
		return fmt.Errorf("the extension %s has no panels: it is not granted %s", x.o.Manifest.ID, manifest.RegisterTools)
	}
	tick := time.NewTicker(panelPause)
	defer tick.Stop()
	for x.begin(ctx); ; {
		if slices.ContainsFunc(x.panels.all(), func(p manifest.Panel) bool { return p.ID == id }) {
			return nil
		}
		if s := x.Status(); s.Failure != nil && (s.State == Quarantined || s.State == Stopped) {
			return s.Failure
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return &adapters.Failure{Code: adapters.Timeout, Adapter: x.o.Manifest.ID, Message: fmt.Sprintf("it has not registered the panel %q", id), Hint: "see bento ext logs " + x.o.Manifest.ID}
		}
	}
}

// panelPause is the time between two looks for a panel.
const panelPause = 5 * time.Millisecond

// Drain waits until the extension has been sent all events, cannot be sent any, or ctx is done.
func (x *Extension) Drain(ctx context.Context) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		done := x.events.written()
		if state := x.Status().State; done == nil || state != Starting && state != Running && state != Degraded {
			return
		}
		select {
		case <-done:
		case <-tick.C: // the state may be another one
		case <-ctx.Done():
			return
		}
	}
}

// Reload ends the process and forgets all failures, also those of a quarantine; then it starts again.
func (x *Extension) Reload(ctx context.Context) {
	x.begin(ctx)
	x.mu.Lock()
	r := x.resident
	x.mu.Unlock()
	if r != nil {
		r.Reload()
	}
}

// Close asks the extension to end, and ends it: SIGTERM after 3 s, SIGKILL after 2 s more. It returns
// when no process is left.
func (x *Extension) Close() {
	if r := x.leave(); r != nil {
		r.Close()
	}
	x.gone()
}

// Finish sends the queued events and closes the extension. It waits for the process only while that keeps
// reading, and at most for wait, as host.Resident.Finish does. It does not wait once ctx is done.
func (x *Extension) Finish(ctx context.Context, wait time.Duration) {
	x.mu.Lock()
	r := x.resident
	x.mu.Unlock()
	if r != nil {
		why := r.Finish(ctx, wait, func(ctx context.Context) {
			x.Drain(ctx)
			x.leave()
		})
		if why != "" {
			fmt.Fprintln(x.o.Log, why)
		}
	}
	x.Close()
}

// leave closes the extension for events, and returns its resident, nil for none.
func (x *Extension) leave() *host.Resident {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.closed = true
	return x.resident
}

// gone removes the rest of the socket.
func (x *Extension) gone() {
	if x.socket != nil {
		x.socket.finish()
	}
}

func (x *Extension) hint(code adapters.Code) string {
	id := x.o.Manifest.ID
	switch code {
	case adapters.LaunchFailed:
		return `check "entrypoint" of ` + x.o.Manifest.Path()
	case adapters.ProtocolVersionMismatch:
		return "install a version of the extension for API " + x.api
	case adapters.NotTrusted:
		return "see what has changed, then run bento ext approve " + id
	case adapters.Quarantined:
		return "bento ext logs " + id + " shows what it wrote; bento ext reload " + id + " starts it again"
	}
	return "bento ext test " + id + " shows whether the extension is at fault; bento ext logs " + id + " shows what it wrote"
}
