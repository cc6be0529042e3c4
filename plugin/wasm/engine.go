// Package wasm is the host of tools that are WebAssembly modules: ABI v2 of AgentZero plugins
// (docs/TOOL-PROTOCOL-WASM.md).
//
// A module has access only to what its grants include. Every call has a separate instance, whose memory,
// time, files and messages are bounded.
package wasm

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"runtime"
	"sync"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/experimental"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
)

// Engine compiles modules, and keeps them compiled for the next invocation. A process needs only one. It
// is safe for concurrent use.
type Engine struct {
	store *store // nil: nothing is kept

	mu     sync.Mutex
	closed bool
	tools  []*Tool
}

// EngineOptions are the options of NewEngine.
type EngineOptions struct {
	// Dir is the directory of compiled modules, made at the first use; "" keeps none. It must be bento's
	// own, since its files are executed.
	Dir string
	// MaxSize bounds the directory, in bytes; 0 means 1 GiB.
	MaxSize int64
	// Warn receives the faults of the directory. The module is compiled again then. Warn may be nil, and
	// is called on several goroutines.
	Warn func(message, hint string)
}

// NewEngine returns an engine. It opens nothing before the first module is compiled.
func NewEngine(o EngineOptions) *Engine {
	e := &Engine{}
	if o.Dir != "" {
		e.store = newStore(o)
	}
	return e
}

// Close ends all tools. Calls that run end first.
func (e *Engine) Close() {
	e.mu.Lock()
	tools := e.tools
	e.tools, e.closed = nil, true
	e.mu.Unlock()
	for _, t := range tools {
		t.close()
	}
	e.store.close()
}

// program is a compiled module with the runtime that it belongs to.
type program struct {
	runtime  wazero.Runtime
	cache    wazero.CompilationCache
	compiled wazero.CompiledModule
	form     *hardened
	memories pool
	init     bool            // it exports _initialize
	says     map[string]bool // which exports of Self it has
}

func (p *program) close() {
	ctx := context.Background()
	p.memories.close()
	_ = p.runtime.Close(ctx)
	if p.cache != nil {
		_ = p.cache.Close(ctx)
	}
}

// revision changes with harden, whose output the compiled modules are of.
const revision = "2"

// compile compiles a module that has passed the checks. Each tool has a separate runtime, because the
// limit of the memory belongs to the runtime.
func (e *Engine) compile(ctx context.Context, m *module, source []byte, pages uint32) (*program, error) {
	form, err := m.harden()
	if err != nil {
		return nil, err
	}
	_, init := m.exports["_initialize"]
	p := &program{form: form, init: init, says: map[string]bool{}}
	for _, name := range []string{selfName, selfSchema} {
		p.says[name] = m.function(name) == "->i64"
	}
	cfg := wazero.NewRuntimeConfig().WithMemoryLimitPages(pages).WithDebugInfoEnabled(false)
	if !stoppable {
		cfg = cfg.WithCloseOnContextDone(true)
	}
	var keep func()
	if e.store != nil {
		sum := sha256.Sum256(source)
		p.cache, keep = e.store.load(hex.EncodeToString(sum[:]) + "-" + revision)
		if p.cache != nil {
			cfg = cfg.WithCompilationCache(p.cache)
		}
	}
	p.runtime = wazero.NewRuntimeWithConfig(ctx, cfg)
	if err := p.link(ctx); err != nil {
		p.close()
		return nil, err
	}
	if keep != nil {
		keep()
	}
	return p, nil
}

func (p *program) link(ctx context.Context) error {
	if _, err := wasi_snapshot_preview1.Instantiate(ctx, p.runtime); err != nil {
		return fmt.Errorf("WASI: %w", err)
	}
	if err := instantiateHost(ctx, p.runtime); err != nil {
		return fmt.Errorf("az: %w", err)
	}
	var err error
	// With workers, the end of ctx interrupts the compiler between two functions. Its code is the same.
	p.compiled, err = p.runtime.CompileModule(experimental.WithCompilationWorkers(ctx, compilers), p.form.code)
	return err
}

// compilers is how many functions of a module are compiled at once.
const compilers = 2

// stoppable reports whether the global of harden stops a module. The compiled code loads it at each
// turn. The interpreter, which wazero uses elsewhere, reads it as a variable of Go.
const stoppable = runtime.GOARCH == "amd64" || runtime.GOARCH == "arm64"
