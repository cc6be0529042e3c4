package plugin

import (
	"bytes"
	"context"
	"encoding/json"
	"sync"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/plugin/wire"
)

// methods are the methods of one adapter. They are safe for concurrent use if the adapter is.
type methods struct {
	a  adapters.Adapter
	by map[string]method

	mu      sync.Mutex
	options json.RawMessage // of initialize
}

type method func(ctx context.Context, c *call) (any, error)

// call is one request.
type call struct {
	method string
	params json.RawMessage // empty where the request has none
	log    adapters.LogFunc
}

// methodsOf returns the methods of an adapter, without those that it lacks.
func methodsOf(a adapters.Adapter) *methods {
	m := &methods{a: a}
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

// do runs the call of a method that the adapter has. See refusal for the error.
func (m *methods) do(ctx context.Context, c *call) (any, error) {
	return m.by[c.method](m.withOptions(ctx, c), c)
}

// optionsKey is the key of the options in the context of a call.
type optionsKey struct{}

// Settings decodes the options of the user into the value that into points to: those of the dish that a
// method is called for, else of the workspace. ctx is that of the method. Without options it changes
// nothing. An adapter takes options if its manifest has an OptionsSchema. bento checks the options against
// the schema.
func Settings(ctx context.Context, into any) error {
	text, _ := ctx.Value(optionsKey{}).(json.RawMessage)
	if len(text) == 0 {
		return nil
	}
	return json.Unmarshal(text, into)
}

// withOptions returns the context of a call with its options.
func (m *methods) withOptions(ctx context.Context, c *call) context.Context {
	var p struct {
		Options json.RawMessage `json:"options"`
	}
	_ = json.Unmarshal(c.params, &p) // the method reports wrong params
	m.mu.Lock()
	defer m.mu.Unlock()
	if c.method == wire.MethodInitialize {
		m.options = bytes.Clone(p.Options)
	}
	if p.Options == nil {
		p.Options = m.options
	}
	return context.WithValue(ctx, optionsKey{}, p.Options)
}

// execKey is the key of an *adapters.ExecOutput in the context of a call.
type execKey struct{}

func withExec(ctx context.Context, output *adapters.ExecOutput) context.Context {
	return context.WithValue(ctx, execKey{}, output)
}

// ExecOutput returns the output of the command of Manifest().Exec. bento runs it for ToolchainFingerprint
// and ResolvedToolchain, whose ctx has it. With any other ctx the result is the zero value. An adapter
// that gets its version this way starts no process, and works as an executable and as a module.
func ExecOutput(ctx context.Context) adapters.ExecOutput {
	output, _ := ctx.Value(execKey{}).(*adapters.ExecOutput)
	if output == nil {
		return adapters.ExecOutput{}
	}
	return *output
}
