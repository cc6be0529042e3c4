// Package adapter is the host's side of the bento adapter protocol v1: it starts the
// plugins on PATH and makes each an adapters.Adapter.
//
// It checks every answer of a plugin before it returns it: package answer defines their shapes and bounds.
// An invalid answer is a failure that names the member, with the wanted and the received value.
package adapter

import (
	"context"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/plugin/host"
)

// Options are the options of Start.
type Options struct {
	Version string // of bento, sent to the plugins
	Dir     string // the plugins' working directory; "": bento's own

	// Env is bento's environment. A plugin gets the variables that every child gets, and those that
	// PassEnv lists for its id (NAME or PREFIX_*).
	Env     adapters.Environ
	PassEnv map[string][]string
	// Settings are the options of plugins in the workspace, JSON objects by id. SettingsOf returns the
	// options of a plugin for a directory, which override these, or "" for these. Both may be nil.
	Settings   map[string]string
	SettingsOf func(id, dir string) string
	// Identities are texts by id. They replace the digest of the executable and the manifest in the
	// identity of a plugin; may be nil.
	Identities map[string]string

	// Sandbox confines plugins, by id. A plugin without an entry is not confined. An install of a confined
	// plugin runs in a separate process.
	Sandbox map[string]*host.Sandbox

	// Builtin are ids that a plugin cannot have: bento starts such a plugin and then
	// ignores it.
	Builtin []string

	Stderr io.Writer // gets the stderr of plugins, unchanged; nil discards it
	// Log receives the progress of a plugin outside of an install, one call at a time; may
	// be nil.
	Log func(id string, l adapters.Log)

	Digests *host.Digests // remembers the digests of executables, and is saved; may be nil
	// Notes, if set, save the answers of modules for the next invocation, which then need not start them; see
	// Set.Remember. With Lazy, they also let Start skip plugins that had no dish in the last invocation.
	Notes   *host.Notes
	Lazy    bool
	Keep    *Keep // lets plugins run on when the Set is closed; nil: none does
	Numbers Numbers

	Root string // of the workspace
	// Module returns the launcher of a WebAssembly module. Without it, such a candidate fails.
	Module func(Module) host.Launcher

	// Source is the workspace, and Tools the environment of the plugins' tasks: the command of a
	// manifest's exec is found and run with them.
	Source snapshot.Source
	Tools  adapters.Environ

	// Launch returns the launcher of a candidate, for tests; nil launches its file.
	Launch func(adapters.Candidate) host.Launcher

	traced bool // every message is recorded, so no answer of a module is a saved one
}

// Numbers are the timeouts and limits of the contract. Zero fields mean its defaults.
type Numbers struct {
	host.Numbers
	Install time.Duration // the timeout of an install; 30 min
}

// The values of Status.Status.
const (
	Loaded     = "loaded"
	Failed     = "failed"
	Shadowed   = "shadowed" // an earlier plugin on PATH, or a built-in, has its id
	Disabled   = adapters.SkipDisabled
	NotAllowed = adapters.SkipNotAllowed
)

// Status is the state of one candidate.
type Status struct {
	ID          string        `json:"id"`
	Path        string        `json:"path"`
	Contract    string        `json:"contract"`
	Status      string        `json:"status"`
	Code        adapters.Code `json:"code,omitempty"` // of Failed
	Message     string        `json:"message,omitempty"`
	Hint        string        `json:"-"` // how to fix a skipped candidate
	DisplayName string        `json:"display_name,omitempty"`
	Identity    string        `json:"identity,omitempty"`
	Handshake   time.Duration `json:"-"` // launch and handshake together
	Asleep      bool          `json:"-"` // not started: all answers so far were remembered
	RunsOn      bool          `json:"-"` // it was started for an earlier Set
}

// Set is the plugins of one invocation. Its methods may be called concurrently.
type Set struct {
	entries []*entry // in the order of the candidates
	notes   *host.Notes
}

// Start starts all candidates that are not skipped at once, and waits for them. If several have one id, it
// uses the first that works, and starts a later one only if the earlier ones failed. A plugin that fails
// is no error of Start: see Status and Warnings. Start returns only the error of ctx, and then leaves no
// process running.
func Start(ctx context.Context, candidates []adapters.Candidate, o Options) (*Set, error) {
	if o.Stderr != nil {
		o.Stderr = &lockedWriter{w: o.Stderr}
	}
	if o.Log != nil {
		o.Log = serialized(o.Log)
	}
	set := &Set{notes: o.Notes}
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
	_ = o.Digests.Save() // a digest that is not saved is computed again
	if err := ctx.Err(); err != nil {
		set.Close()
		return nil, err
	}
	return set, nil
}

// Close shuts down all plugins at once, except those that a Keep keeps, and returns when their processes
// have ended.
func (s *Set) Close() {
	var closing sync.WaitGroup
	for _, e := range s.entries {
		if e.process != nil {
			closing.Go(e.process.close)
		}
	}
	closing.Wait()
}

// Adapters returns the plugins that are loaded, in the order of the candidates.
func (s *Set) Adapters() []adapters.Adapter {
	var list []adapters.Adapter
	for _, e := range s.entries {
		if e.status == Loaded {
			list = append(list, e.process)
		}
	}
	return list
}

// Status returns the state of each candidate, in their order. A plugin that was loaded and
// failed since is failed.
func (s *Set) Status() []Status {
	list := make([]Status, len(s.entries))
	for i, e := range s.entries {
		list[i] = e.Status()
	}
	return list
}

// Failures returns, by id, why a plugin is missing or stopped working.
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

// Warnings returns warnings about the start, in the candidates' order.
func (s *Set) Warnings() []diagnostics.Diagnostic {
	var list []diagnostics.Diagnostic
	for _, e := range s.entries {
		list = append(list, e.warnings...)
	}
	return slices.Clip(list)
}

// lockedWriter serializes the writes of several plugins.
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
