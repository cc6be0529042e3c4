package ainb

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/plugin/ainb/manifest"
	"github.com/bentobuild/bento/plugin/host"
	"github.com/bentobuild/bento/plugin/wire"
)

// await is how long the standard input stays open for the answer to plugin/shutdown. Some extensions
// end with their input alone, and do not answer.
const await = time.Second

// maxLine is the size limit of a line of the log, in bytes. A longer one is cut into several.
const maxLine = 16 << 10

// shown is how long a screen is treated as shown after it was drawn.
const shown = 30 * time.Second

// extension is one extension of a host, over all its processes.
type extension struct {
	h        *Host
	e        Extension
	name     string
	granted  map[string]manifest.Grant // its capabilities
	resident *host.Resident            // set before made is closed
	made     chan struct{}
	stderr   *host.Lines
	lastID   int64 // of the host's requests; of the resident's goroutine alone
	drawn    atomic.Int64
	screen   screen
	dropped  atomic.Uint64 // by sessions that are over

	mu      sync.Mutex
	current *session
}

func newExtension(h *Host, e Extension) *extension {
	x := &extension{h: h, e: e, name: e.Manifest.Plugin.Name, granted: make(map[string]manifest.Grant), made: make(chan struct{})}
	for name, declared := range e.Manifest.Capabilities {
		if g := manifest.Both(name, declared, e.Grants[name]); g.Granted() {
			x.granted[name] = g
		}
	}
	x.stderr = &host.Lines{Max: maxLine, To: func(text string) {
		h.log(Line{Extension: x.name, Level: "info", Stream: "stderr", Message: wire.Plain(text)})
	}}
	return x
}

// options returns the options of the process.
func (x *extension) options() host.ResidentOptions {
	launcher := x.e.Launcher
	if launcher == nil {
		launcher = &host.Command{Argv: []string{x.e.Executable}, Check: x.e.Check, Dir: x.e.WorkDir, Env: x.e.Env}
	}
	n := x.h.o.Numbers
	n.Idle = time.Duration(x.e.Manifest.Lifecycle.IdleReap) * time.Second
	return host.ResidentOptions{
		ID: x.name, Path: x.e.Executable, Launcher: launcher, Numbers: n,
		Eager:    x.e.eager(),
		Earlier:  x.e.Earlier,
		Connect:  func(ctx context.Context, s *host.Stream) (*wire.Peer, error) { return x.connect(ctx, s, n.Wire), nil },
		Hello:    x.hello,
		Ended:    func(p *wire.Peer) { x.bury(p) },
		Shutdown: func(host.Ending) (string, any) { return "plugin/shutdown", struct{}{} },
		Await:    await,
		Keep:     x.keep,
		Changed: func(s host.State, f *adapters.Failure) {
			if x.h.o.Changed != nil {
				x.h.o.Changed(x.name, s, f)
			}
		},
		Hint:   hint,
		Stderr: x.stderr,
	}
}

// eager reports whether an extension starts without a call.
func (e *Extension) eager() bool { return e.Eager || e.Manifest.Lifecycle.Eager && !e.Lazy }

// hint returns the advice for a user about a failure.
func hint(code adapters.Code) string {
	switch code {
	case adapters.LaunchFailed:
		return "check that the executable beside the manifest is made for this machine, and chmod +x it"
	case adapters.MalformedResponse:
		return "an extension's standard output is for frames only; anything else belongs on standard error"
	case adapters.NotTrusted:
		return "see what has changed, then run bento ext approve"
	case adapters.Quarantined:
		return "read bento ext logs, then start it again by bento ext reload"
	}
	return "bento ext test shows whether the extension is at fault; bento ext logs shows what it wrote"
}

// hello does the handshake.
func (x *extension) hello(ctx context.Context, p *wire.Peer) error {
	m := x.e.Manifest
	path, err := filepath.Abs(filepath.Join(x.e.Found.Dir, manifest.File))
	if err != nil {
		return err
	}
	result, err := p.Call(ctx, "plugin/init", initParams{
		ManifestPath: path, Granted: x.names(), ABI: manifest.ABI, Config: x.e.Config,
		Host: hostInfo{Kind: x.h.o.Kind, PID: os.Getpid()},
	})
	if err != nil {
		return err
	}
	if err := checkGreeting(result, m); err != nil {
		return err
	}
	close(x.session().ready)
	return nil
}

// names returns the granted capabilities, sorted.
func (x *extension) names() []string {
	list := []string{}
	for name := range x.granted {
		list = append(list, name)
	}
	slices.Sort(list)
	return list
}

func (x *extension) session() *session {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.current
}

// keep reports whether an idle process must stay: its screen is shown, or it follows a topic of which it
// needs every event.
func (x *extension) keep() bool {
	m := x.e.Manifest
	blocking := slices.ContainsFunc(m.Subscribes.Snapshots, func(topic string) bool { return x.needsAll(topic) && x.mayUse(topic) })
	return blocking || time.Since(time.Unix(0, x.drawn.Load())) < shown
}

// needsAll reports whether the events of a topic are use of the extension.
func (x *extension) needsAll(topic string) bool {
	return !slices.Contains(x.e.Manifest.Subscribes.LatestState, topic)
}

func (x *extension) wants(topic string) bool {
	s := x.session()
	if s == nil {
		return x.e.eager() && slices.Contains(x.e.Manifest.Subscribes.Snapshots, topic) && x.mayUse(topic)
	}
	return s.wants(topic)
}

func (x *extension) status() Status {
	state, f := x.resident.State()
	st := Status{ID: x.name, State: state, Failure: f, PID: x.resident.Pid(), Wedged: x.screen.isWedged(), Dropped: x.dropped.Load()}
	if s := x.session(); s != nil {
		st.Dropped += s.lost()
	}
	return st
}

// audit records a decision about a request.
func (x *extension) audit(method, permission, reason string, allowed bool) {
	if x.h.o.Audit == nil {
		return
	}
	d := host.Decision{Time: time.Now().UTC(), Extension: x.name, Method: method, Permission: permission, Decision: "deny", Reason: wire.Plain(reason)}
	if allowed {
		d.Decision = "allow"
	}
	x.h.o.Audit(d)
}
