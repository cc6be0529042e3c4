// Package adapter is the host's side of the bento adapter protocol v1: it starts
// the plugins found on PATH and makes each an adapters.Adapter.
//
// What a plugin says is checked before anybody sees it: every answer has a shape
// with bounds (answers.go), and one that does not fit is a failure that names the
// field, what was expected there, and what came.
package adapter

import (
	"context"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/plugin/host"
)

// Options are the options of Start.
type Options struct {
	Version string // of bento, for the plugins
	Dir     string // the plugins' working directory; "": bento's own

	// Env is bento's environment. A plugin sees the strict base of it, and what
	// PassEnv names for its id (NAME or PREFIX_*).
	Env     adapters.Environ
	PassEnv map[string][]string

	// Sandbox confines plugins, by id; those that it does not name are free. An
	// install of a confined plugin is done by a process of its own.
	Sandbox map[string]*host.Sandbox

	// Builtin are ids that a plugin cannot have: it is started and then ignored.
	Builtin []string

	Stderr io.Writer // gets what plugins write there, unchanged; nil: nobody
	// Log gets what a plugin tells outside of an install, one at a time; may be nil.
	Log func(id string, l adapters.Log)

	Digests *host.Digests // remembers the digests of executables, and is saved; may be nil
	// Notes, if there are any, let plugins be left out that had nothing to do in the
	// last invocation; see Set.Remember.
	Notes   *host.Notes
	Keep    *Keep // lets plugins run on when the Set is closed; nil: none does
	Numbers Numbers

	// Launch gives what is launched in place of a candidate's file, for tests; nil
	// means the file.
	Launch func(adapters.Candidate) host.Launcher
}

// Numbers are the times and sizes of the contract. Zero fields mean its defaults.
type Numbers struct {
	host.Numbers
	Install time.Duration // the deadline of an install; 30 min
}

// The values of Status.Status.
const (
	Loaded     = "loaded"
	Failed     = "failed"
	Shadowed   = "shadowed" // an earlier one on PATH, or a built-in, has its id
	Disabled   = adapters.SkipDisabled
	NotAllowed = adapters.SkipNotAllowed
)

// Status is what became of one candidate.
type Status struct {
	ID          string        `json:"id"`
	Path        string        `json:"path"`
	Contract    string        `json:"contract"`
	Status      string        `json:"status"`
	Code        adapters.Code `json:"code,omitempty"` // of Failed
	Message     string        `json:"message,omitempty"`
	Hint        string        `json:"-"` // what mends a candidate that is skipped
	DisplayName string        `json:"display_name,omitempty"`
	Identity    string        `json:"identity,omitempty"`
	Handshake   time.Duration `json:"-"` // launch and handshake together
	Asleep      bool          `json:"-"` // it is not started, since nothing was asked that is not known
	RunsOn      bool          `json:"-"` // it was started for an earlier Set
}

// Set is the plugins of one invocation. Its methods may be called concurrently.
type Set struct {
	entries []*entry // as the candidates came
}

// Start starts all candidates that may be, all at once, and waits for them. Of
// several with one id the first that works counts; later ones are started only if
// the earlier failed. A plugin that fails is no error: see Status and Warnings.
// The error is that of ctx, and nothing is left running then.
func Start(ctx context.Context, candidates []adapters.Candidate, o Options) (*Set, error) {
	if o.Stderr != nil {
		o.Stderr = &lockedWriter{w: o.Stderr}
	}
	if o.Log != nil {
		o.Log = serialized(o.Log)
	}
	set := &Set{}
	byID := make(map[string][]*entry)
	for _, c := range candidates {
		e := newEntry(c)
		set.entries = append(set.entries, e)
		if c.Skip == "" {
			byID[c.ID] = append(byID[c.ID], e)
		}
	}
	var starting sync.WaitGroup
	for _, group := range byID {
		starting.Go(func() { startGroup(ctx, group, o) })
	}
	starting.Wait()
	o.Keep.sweep(set.entries)
	_ = o.Digests.Save() // what is not remembered is read again
	if err := ctx.Err(); err != nil {
		set.Close()
		return nil, err
	}
	return set, nil
}

// Close shuts all plugins down at once but for those that run on, and returns when no
// process of the others is left.
func (s *Set) Close() {
	var closing sync.WaitGroup
	for _, e := range s.entries {
		if e.process != nil {
			closing.Go(e.process.close)
		}
	}
	closing.Wait()
}

// Adapters gives the plugins that are loaded, in the order of the candidates.
func (s *Set) Adapters() []adapters.Adapter {
	var list []adapters.Adapter
	for _, e := range s.entries {
		if e.status == Loaded {
			list = append(list, e.process)
		}
	}
	return list
}

// Status gives what became of each candidate, in their order. A plugin that was
// loaded and failed since counts as failed.
func (s *Set) Status() []Status {
	list := make([]Status, len(s.entries))
	for i, e := range s.entries {
		list[i] = e.Status()
	}
	return list
}

// Failures gives, by id, why there is no plugin, or none any more.
func (s *Set) Failures() map[string]*adapters.Failure {
	byID := make(map[string]*adapters.Failure)
	for _, e := range s.entries {
		f := e.failed()
		if e.status == Loaded {
			if f != nil {
				byID[e.ID] = f
			} else {
				delete(byID, e.ID) // an earlier candidate failed
			}
		} else if _, ok := byID[e.ID]; !ok && f != nil {
			byID[e.ID] = f
		}
	}
	return byID
}

// Warnings gives what a user has to know of the start, in the candidates' order.
func (s *Set) Warnings() []diagnostics.Diagnostic {
	var list []diagnostics.Diagnostic
	for _, e := range s.entries {
		list = append(list, e.warnings...)
	}
	return slices.Clip(list)
}

// lockedWriter keeps what several plugins write at once in one piece each.
type lockedWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}

func serialized(log func(string, adapters.Log)) func(string, adapters.Log) {
	var mu sync.Mutex
	return func(id string, l adapters.Log) {
		mu.Lock()
		defer mu.Unlock()
		log(id, l)
	}
}
