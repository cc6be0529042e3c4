// Package methods answers the methods of the bento adapter protocol by an adapters.Adapter. It knows
// nothing of connections: the SDK serves it on the standard streams, and the conformance suite to
// itself.
package methods

import (
	"bytes"
	"context"
	"encoding/json"
	"iter"
	"maps"
	"sync"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/plugin/wire"
)

// Methods are the methods of one adapter. They are safe for concurrent use if the adapter is.
type Methods struct {
	a  adapters.Adapter
	by map[string]method

	mu      sync.Mutex
	options json.RawMessage // of initialize
}

type method func(ctx context.Context, call *Call) (any, error)

// Call is one request.
type Call struct {
	Method string
	Params json.RawMessage // empty where the request has none
	Log    adapters.LogFunc
}

// Of returns the methods of an adapter, without those that it lacks.
func Of(a adapters.Adapter) *Methods {
	m := &Methods{a: a}
	m.by = map[string]method{
		wire.MethodInitialize:  m.initialize,
		wire.MethodDetect:      m.detect,
		wire.MethodToolchain:   m.toolchain,
		wire.MethodFingerprint: m.fingerprint,
		wire.MethodInstall:     m.install,
		wire.MethodDiagnostics: m.diagnose,
	}
	if _, ok := a.(adapters.TaskLister); ok {
		m.by[wire.MethodTasks] = m.tasks
	}
	if _, ok := a.(adapters.Linker); ok {
		m.by[wire.MethodLinks] = m.links
	}
	if _, ok := a.(adapters.Scoper); ok {
		m.by[wire.MethodInstallScope] = m.installScope
	}
	if _, ok := a.(adapters.Adder); ok {
		m.by[wire.MethodAdd] = m.add
	}
	if _, ok := a.(adapters.ToolchainResolver); ok {
		m.by[wire.MethodResolved] = m.resolved
	}
	if _, ok := a.(adapters.Scaffolder); ok {
		m.by[wire.MethodScaffold] = m.scaffold
	}
	return m
}

// Names returns the names of the methods, in no order.
func (m *Methods) Names() iter.Seq[string] { return maps.Keys(m.by) }

// Has reports whether the adapter has a method.
func (m *Methods) Has(name string) bool { return m.by[name] != nil }

// Parallel returns how many calls may run at once.
func (m *Methods) Parallel() int { return max(1, m.a.Manifest().Parallel) }

// Do runs the call, whose method is one of Names. See Refusal for the error.
func (m *Methods) Do(ctx context.Context, call *Call) (any, error) {
	return m.by[call.Method](m.withOptions(ctx, call), call)
}

// optionsKey is the key of the options in the context of a call.
type optionsKey struct{}

// Settings is plugin.Settings.
func Settings(ctx context.Context, into any) error {
	text, _ := ctx.Value(optionsKey{}).(json.RawMessage)
	if len(text) == 0 {
		return nil
	}
	return json.Unmarshal(text, into)
}

// withOptions returns the context of a call with its options.
func (m *Methods) withOptions(ctx context.Context, call *Call) context.Context {
	var p struct {
		Options json.RawMessage `json:"options"`
	}
	_ = json.Unmarshal(call.Params, &p) // the method reports wrong params
	m.mu.Lock()
	defer m.mu.Unlock()
	if call.Method == wire.MethodInitialize {
		m.options = bytes.Clone(p.Options)
	}
	if p.Options == nil {
		p.Options = m.options
	}
	return context.WithValue(ctx, optionsKey{}, p.Options)
}

// execKey is the key of an *adapters.ExecOutput in the context of a call.
type execKey struct{}

func withExec(ctx context.Context, said *adapters.ExecOutput) context.Context {
	return context.WithValue(ctx, execKey{}, said)
}

// ExecOutput is plugin.ExecOutput.
func ExecOutput(ctx context.Context) adapters.ExecOutput {
	said, _ := ctx.Value(execKey{}).(*adapters.ExecOutput)
	if said == nil {
		return adapters.ExecOutput{}
	}
	return *said
}
