package ainb

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/plugin/ainb/bus"
	"github.com/bentobuild/bento/plugin/ainb/manifest"
	"github.com/bentobuild/bento/plugin/host"
)

// Options describe a host and its extensions. Its functions are called on many goroutines at once
// and must return soon, except Secret, which gets a context. They may be nil.
type Options struct {
	Extensions []Extension
	Numbers    host.Numbers // zero: host.Extension

	Kind  string // of the host, for extensions; "": "bento"
	Level string // the lowest level of host/log that reaches Log; "": "info"
	// Own are the topics that only the host publishes.
	Own []string
	// Latest are payloads by topic that are published before any extension starts: no extension
	// receives them as events.
	Latest map[string][]byte
	// Home is the directory that "~" means. The directories of the capabilities are below it.
	Home   string
	Getenv func(string) string // for "${VAR}" in a grant and for the variables of children

	Log     func(Line)
	Audit   func(host.Decision)
	Changed func(id string, s host.State, f *adapters.Failure)
	Trace   func(id string, sent bool, body []byte)
	// Secret returns a secret; ok is false if it is missing.
	Secret    func(ctx context.Context, scope, workspace, key string) (value []byte, ok bool, err error)
	Transport http.RoundTripper // for host/network/fetch; nil: the network
}

// Extension is one extension of a host.
type Extension struct {
	manifest.Found
	// Grants are the capabilities that the user allows. An extension has those that it declares and the
	// user allows.
	Grants   map[string]manifest.Grant
	Check    func() error    // when set, it is called right before each start, and prevents it by an error
	Config   json.RawMessage // the settings, one JSON value; nil: null
	Env      []string        // the whole environment
	WorkDir  string          // "": the host's own
	Launcher host.Launcher   // nil: a process of the executable
	Eager    bool            // it starts at once, whatever the manifest says
	Lazy     bool            // it starts for a call alone, whatever the manifest says
	Earlier  []time.Time     // its failures under earlier hosts, oldest first
	Without  []string        // topics that it may not use, regardless of its grants
}

// Line is one line of the log of an extension: from host/log, or from its standard error with the stream
// "stderr". Messages have no control characters.
type Line struct {
	Extension, Level, Stream, Message string
	Fields                            json.RawMessage
}

// Host runs extensions. Its methods are safe for concurrent use.
type Host struct {
	o          Options
	bus        bus.Bus
	list       []*extension // in the order of Options
	own        map[string]bool
	generation atomic.Uint64
}

// Start starts the host, and the eager extensions. No process runs longer than until Close; ctx has
// only values. Two extensions of one name are an error.
func Start(ctx context.Context, o Options) (*Host, error) {
	if o.Numbers.Handshake == 0 {
		o.Numbers = host.Extension()
	}
	if o.Getenv == nil {
		o.Getenv = func(string) string { return "" }
	}
	if o.Kind == "" {
		o.Kind = "bento"
	}
	h := &Host{o: o, own: make(map[string]bool)}
	for _, topic := range o.Own {
		h.own[topic] = true
	}
	names := make(map[string]bool)
	for _, e := range o.Extensions {
		if name := e.Manifest.Plugin.Name; names[name] {
			return nil, fmt.Errorf("two extensions are named %q, expected one", name)
		}
		names[e.Manifest.Plugin.Name] = true
	}
	for _, e := range o.Extensions {
		h.list = append(h.list, newExtension(h, e))
	}
	for _, topic := range slices.Sorted(maps.Keys(o.Latest)) {
		if err := h.Publish(topic, o.Latest[topic]); err != nil {
			return nil, err
		}
	}
	for _, x := range h.list { // all of them are known before one can ask
		x.resident = host.Reside(ctx, x.options())
		close(x.made)
	}
	return h, nil
}

// Settle waits until all extensions that run or start have been sent all published events, or ctx is done.
func (h *Host) Settle(ctx context.Context) {
	for _, x := range h.list {
		x.settle(ctx)
	}
}

// Close shuts all extensions down, side by side, and returns when their processes have ended.
func (h *Host) Close() { h.each(func(x *extension) { x.resident.Close() }) }

// Finish sends all published events to the extensions, and shuts them down. It waits for a process only
// while that keeps reading, and at most as long as wait returns for its extension, as host.Resident.Finish
// does. It does not wait once ctx is done.
func (h *Host) Finish(ctx context.Context, wait func(id string) time.Duration) {
	h.each(func(x *extension) {
		if why := x.resident.Finish(ctx, wait(x.name), x.settle); why != "" {
			h.log(Line{Extension: x.name, Level: "warn", Message: why})
		}
	})
}

// each ends all extensions, side by side.
func (h *Host) each(end func(*extension)) {
	var all sync.WaitGroup
	for _, x := range h.list {
		all.Go(func() {
			end(x)
			x.stderr.Flush()
		})
	}
	all.Wait()
}

// find returns an extension.
func (h *Host) find(id string) (*extension, error) {
	for _, x := range h.list {
		if x.name == id {
			return x, nil
		}
	}
	return nil, fmt.Errorf("no extension is named %q", id)
}

// Publish publishes a payload, which must not be changed afterwards, to all that subscribe to the
// topic. It never waits for an extension.
func (h *Host) Publish(topic string, payload []byte) error {
	_, err := h.bus.Publish(bus.Host, topic, payload)
	return err
}

// Snapshot returns the latest payload of a topic. Its version is 0 if the topic has none.
func (h *Host) Snapshot(topic string) (payload []byte, version uint64) {
	s := h.bus.Latest(bus.Host, topic)
	return s.Payload, s.Version
}

// Status is the state of one extension.
type Status struct {
	ID      string
	State   host.State
	Failure *adapters.Failure // the last one
	PID     int               // 0 without a process
	Dropped uint64            // dropped events, since it read too slowly
	Wedged  bool              // its last screen was late
}

// Statuses returns the states of all extensions, in the order of Options.
func (h *Host) Statuses() []Status {
	list := make([]Status, len(h.list))
	for i, x := range h.list {
		list[i] = x.status()
	}
	return list
}

// Wants reports whether an extension that runs, or starts without being asked, subscribes to the
// topic: no other one receives its events.
func (h *Host) Wants(topic string) bool {
	return slices.ContainsFunc(h.list, func(x *extension) bool { return x.wants(topic) })
}

// Reload ends the process of an extension and forgets its failures, also those of a quarantine.
func (h *Host) Reload(id string) error {
	x, err := h.find(id)
	if err == nil {
		x.resident.Reload()
	}
	return err
}

func (h *Host) log(l Line) {
	if h.o.Log != nil {
		h.o.Log(l)
	}
}
