package adapter

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/plugin/adapter/answer"
	"github.com/bentobuild/bento/plugin/host"
	"github.com/bentobuild/bento/plugin/wire"
)

// maxParallel is how many calls a manifest may allow at once.
const maxParallel = 64

// startProcess starts one candidate and does the handshake with it.
func startProcess(ctx context.Context, c adapters.Candidate, o Options) (*Process, error) {
	o.traced = TraceOf(ctx) != nil
	if p := asleep(c, o); p != nil {
		return p, nil
	}
	p := newProcess(c, o)
	digest := make(chan string, 1)
	go func() { digest <- o.digest(c) }()
	plugin, err := p.launch(ctx, o.Sandbox[c.ID])
	executable := <-digest
	if err != nil {
		return nil, err
	}
	p.plugin = plugin
	p.identify(executable)
	return p, nil
}

func newProcess(c adapters.Candidate, o Options) *Process {
	return &Process{id: c.ID, install: o.Numbers.Install, from: c, o: o, reader: answer.NewReader(), asker: o.asker(), saved: o.savedOf(c)}
}

// launch starts a process of the plugin, in a sandbox unless that is nil.
func (p *Process) launch(ctx context.Context, box *host.Sandbox) (*host.Plugin, error) {
	c, o := p.from, p.o
	env := o.Env.Strict(o.PassEnv[c.ID]...)
	if box != nil {
		env = env.With(box.Environ())
	}
	launcher := host.Launcher(&host.Command{Argv: []string{c.Path}, SHA256: pin(c), Dir: o.Dir, Env: env, Sandbox: box})
	switch {
	case o.Launch != nil:
		launcher = o.Launch(c)
	case c.Contract == adapters.ContractWasm && o.Module == nil:
		return nil, errors.New("nothing runs WebAssembly modules here")
	case c.Contract == adapters.ContractWasm:
		launcher = o.Module(p.module())
	}
	return host.Start(ctx, host.Options{
		ID:       c.ID,
		Path:     c.Path,
		Launcher: launcher,
		Numbers:  o.Numbers.Numbers,
		Hello:    p.hello(o.Version),
		Shutdown: wire.MethodShutdown,
		Stderr:   o.Stderr,
		Log: func(l adapters.Log) {
			if o.Log != nil {
				o.Log(c.ID, l)
			}
		},
		Trace: traceOf(ctx, c),
	})
}

// Module is a plugin that is a WebAssembly module, to be launched.
type Module struct {
	ID, Path string
	SHA256   string // the digest that the file must have, "" for any
	Root     string // of the workspace, which the module reads
	// Seen, unless nil, receives each answered request with the looks of the module.
	Seen func(request []byte, observed host.Observed)
}

// module returns the description of a plugin that is a module. It needs no sandbox.
func (p *Process) module() Module {
	m := Module{ID: p.id, Path: p.from.Path, SHA256: pin(p.from), Root: p.o.Root}
	if p.saved != nil {
		m.Seen = p.saved.see
	}
	return m
}

// identify computes the identity from the digest of the executable and the manifest.
func (p *Process) identify(executable string) {
	h := sha256.New()
	if announced := p.o.Identities[p.id]; announced != "" {
		fmt.Fprintf(h, "plugin %s", announced)
	} else {
		fmt.Fprintf(h, "plugin %d %s %d %s", len(executable), executable, len(p.text), p.text)
	}
	if options := p.o.Settings[p.id]; options != "" {
		fmt.Fprintf(h, " %d %s", len(options), options)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.executable, p.manifest.Identity = executable, hex.EncodeToString(h.Sum(nil))
}

// isChanged reports whether the executable has changed since the first start, on which the
// identity depends. Before the first start it returns false.
func (p *Process) isChanged() bool {
	p.mu.Lock()
	was := p.executable
	p.mu.Unlock()
	return was != "" && p.o.digest(p.from) != was
}

// digest returns the digest of the executable. For an exposed candidate it is that of the pinned content,
// even if the file has changed.
func (o *Options) digest(c adapters.Candidate) string {
	if c.Exposed {
		return c.SHA256
	}
	return o.Digests.Executable(c.Path)
}

// pin returns the digest that an exposed candidate must have, "" for others.
func pin(c adapters.Candidate) string {
	if c.Exposed {
		return c.SHA256
	}
	return ""
}

// hello returns the handshake.
func (p *Process) hello(version string) func(context.Context, host.AskFunc) (host.Terms, error) {
	return func(_ context.Context, ask host.AskFunc) (host.Terms, error) {
		if p.isChanged() {
			return host.Terms{}, errors.New("its executable has changed since its first start")
		}
		result, err := ask(wire.MethodInitialize, wire.Initialize{
			ProtocolVersion: adapters.ProtocolVersion, BentoVersion: version, Options: json.RawMessage(p.o.Settings[p.id]),
		})
		if err != nil {
			return host.Terms{}, err
		}
		if err := p.introduced(result); err != nil {
			return host.Terms{}, err
		}
		return host.Terms{Parallel: p.manifest.Parallel, Cancel: p.manifest.Capabilities.Cancel}, nil
	}
}

// parallel returns how many calls may be in flight if the manifest allows n. Each call of a module has a
// separate instance.
func (p *Process) parallel(n int) int {
	n = min(n, maxParallel)
	if p.from.Contract == adapters.ContractWasm {
		n = max(n, min(runtime.GOMAXPROCS(0), maxParallel))
	}
	return n
}

// introduced reads the result of initialize. The first result is the manifest; a later one
// must equal it.
func (p *Process) introduced(result json.RawMessage) error {
	m, dropped, err := answer.ReadManifest(result, p.id)
	if err != nil {
		return err
	}
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	if p.manifest == nil {
		m.Parallel = p.parallel(m.Parallel)
		p.manifest, p.raw, p.text, p.dropped = m, bytes.Clone(result), text, dropped
	} else if !bytes.Equal(text, p.text) {
		return errors.New("its manifest has changed since its first start")
	}
	return nil
}

func final(s host.State) bool {
	return s == host.Failed || s == host.Quarantined || s == host.Stopped
}
