package companion

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/report"
	"github.com/bentobuild/bento/plugin/ainb"
	plugin "github.com/bentobuild/bento/plugin/host"
)

// companions are the extensions of ainb v2, which share a bus.
type companions struct {
	*ainb.Host
	served map[string]string // the ids of extensions, by namespace
	eager  map[string]bool   // by id
	waits  map[string]time.Duration

	mu     sync.Mutex
	failed map[string]*adapters.Failure // the last one, by id
}

// openAinb opens the extensions of ainb v2, and starts the eager ones. The others start for a command.
func (s *Set) openAinb(ctx context.Context, list []*Extension) (host, error) {
	c := &companions{
		served: make(map[string]string), eager: make(map[string]bool), waits: make(map[string]time.Duration), failed: make(map[string]*adapters.Failure),
	}
	var all []ainb.Extension
	for _, e := range list {
		all = append(all, ainb.Extension{
			Found: *e.Ainb, Grants: e.granted, Config: e.Config(), Env: s.free().With(s.variables(e)), WorkDir: s.o.Places.Root, Check: s.before(e),
			Earlier: e.earlier(), Lazy: s.one != "" && s.one != e.ID,
		})
		if !e.Settings.Output {
			all[len(all)-1].Without = []string{report.TopicTaskOutput}
		}
		for _, n := range e.Namespaces() {
			c.served[n] = e.ID
		}
		c.eager[e.ID], c.waits[e.ID] = e.Eager && !all[len(all)-1].Lazy, e.Settings.Wait
	}
	s.keeps = true
	var own []string
	for _, t := range report.Topics() {
		own = append(own, t.Name)
	}
	hidden := &secrets{getenv: s.o.Environ.Get, root: s.o.Places.Root}
	var err error
	c.Host, err = ainb.Start(ctx, ainb.Options{
		Secret:     hidden.find,
		Extensions: all, Own: own, Latest: loadLatest(s.o.State), Home: s.o.Environ.Get("HOME"), Getenv: s.o.Environ.Get,
		Log: func(l ainb.Line) { s.journal(l.Extension).Log(l.Level, l.Message) },
		Audit: func(d plugin.Decision) {
			s.journal(d.Extension).Decide(report.ExtensionDecision{Time: d.Time, Method: d.Method, Permission: d.Permission, Decision: d.Decision, Reason: d.Reason})
		},
		Changed: func(id string, state plugin.State, f *adapters.Failure) {
			if c.isNew(id, f) {
				s.failed(id, state == plugin.Quarantined, f)
			}
		},
	})
	if err == nil {
		c.launched(ctx)
	}
	return c, err
}

// launchWait is the maximal time that the start waits for processes to be launched.
const launchWait = time.Second

// launched waits until each eager extension has a process or has failed. From then on the bus keeps events for
// it. Notices wait in the queue meanwhile; a run does not wait.
func (c *companions) launched(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, launchWait)
	defer cancel()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for slices.ContainsFunc(c.Statuses(), func(s ainb.Status) bool { return c.eager[s.ID] && s.PID == 0 && s.Failure == nil }) {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// isNew reports whether a failure of an extension is another one than the last: each state after it has it, too.
func (c *companions) isNew(id string, f *adapters.Failure) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	was := c.failed[id]
	c.failed[id] = f
	return f != nil && f != was
}

// Config returns the settings of an extension as a JSON object, nil for none.
func (e *Extension) Config() json.RawMessage {
	if e.Settings.Config == "" {
		return nil
	}
	return json.RawMessage(e.Settings.Config)
}

func (c *companions) wants(topic string) bool { return c.Host.Wants(topic) }

func (c *companions) publish(topic string, payload json.RawMessage) {
	_ = c.Host.Publish(topic, payload) // a full bus drops it
}

func (c *companions) command(ctx context.Context, namespace string, args []string) (Output, error) {
	within := time.Duration(0)
	if end, ok := ctx.Deadline(); ok {
		within = time.Until(end)
	}
	out, err := c.Host.Command(ctx, c.served[namespace], ainb.Command{Namespace: namespace, Argv: args, Within: within})
	if err != nil {
		return Output{}, err
	}
	return Output{Stdout: out.Stdout, Stderr: out.Stderr, ExitCode: int(out.ExitCode)}, nil
}

func (c *companions) finish(ctx context.Context) {
	c.Finish(ctx, func(id string) time.Duration { return c.waits[id] })
}

// Render draws the screen of the extension of OpenOne.
func (s *Set) Render(ctx context.Context, v ainb.Viewport) (*ainb.Frame, error) {
	c, err := s.drawing()
	if err != nil {
		return nil, err
	}
	return c.Host.Render(ctx, s.one, v)
}

// Key passes on a key to a screen of the extension of OpenOne.
func (s *Set) Key(screen string, k ainb.Key) {
	if c, err := s.drawing(); err == nil {
		c.Host.Key(s.one, screen, k)
	}
}

// Mouse passes on an action of the mouse to a screen of the extension of OpenOne.
func (s *Set) Mouse(screen string, m ainb.Mouse) {
	if c, err := s.drawing(); err == nil {
		c.Host.Mouse(s.one, screen, m)
	}
}

// drawing returns the host of the extension of OpenOne, if its contract has screens.
func (s *Set) drawing() (*companions, error) {
	<-s.found
	for _, h := range s.hosts {
		if c, ok := h.(*companions); ok {
			return c, nil
		}
	}
	return nil, s.notStarted()
}

// Screen returns the screen of an extension for a namespace: the screen of that name, else the first.
func (e *Extension) Screen(namespace string) (id string, ok bool) {
	if e.Ainb == nil || len(e.Ainb.Manifest.Provides.Screens) == 0 {
		return "", false
	}
	screens := e.Ainb.Manifest.Provides.Screens
	if slices.Contains(screens, namespace) {
		return namespace, true
	}
	return screens[0], true
}
