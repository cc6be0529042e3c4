package kit

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/clone"
	"github.com/bentobuild/bento/internal/config"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/state"
	"github.com/bentobuild/bento/plugin/adapter"
	"github.com/bentobuild/bento/plugin/adapter/answer"
	"github.com/bentobuild/bento/plugin/host"
	"github.com/bentobuild/bento/plugin/oneshot"
	"github.com/bentobuild/bento/plugin/wasm"
)

// open sets the field by which the tool is called. It checks the settings and starts nothing.
func (t *toolFinder) open(f *FoundTool) {
	id := f.ID
	f.Tool = &dish.Tool{ID: id, Findings: func(output, root string) ([]diagnostics.Diagnostic, error) {
		return answer.ToolFindings(output, root, id)
	}}
	switch {
	case f.Contract == adapters.ContractOneShot:
		t.openOneshot(f)
	case f.Contract == adapters.ContractWasm:
		t.openModule(f, moduleOf{sha256: f.SHA256})
	default:
		t.openPackage(f)
	}
}

// launch describes the start of a one-shot tool.
type launch struct {
	ID   string // the id that its manifest must have
	Argv []string
	Dir  string
	Env  adapters.Environ
	// SHA256 is the digest that the executable must have, "" for any.
	SHA256 string
	// Sandbox confines it unless nil.
	Sandbox *host.Sandbox

	words   []string // Argv as it is declared
	scripts []string // files of the workspace among the arguments
	terms   []dish.Term
}

// openOneshot opens a declared program or a program on PATH.
func (t *toolFinder) openOneshot(f *FoundTool) {
	root, own := t.cfg.Root, f.Settings
	// A tool on PATH belongs to the user, like a plugin.
	p := launch{ID: f.ID, SHA256: f.SHA256, Argv: []string{f.Path}, words: []string{filepath.Base(f.Path)}, Dir: root, Env: t.host.PluginEnv(root)}
	if own.Declares() { // it runs like a task
		p.Env, p.words = t.host.Environ, nil
		for _, w := range own.Command {
			p.words = append(p.words, w.Text)
		}
		p.Argv = append(p.Argv, p.words[1:]...)
		p.scripts = t.scripts(own)
	}
	p.Env = p.Env.Strict(own.Env...).With(own.SetEnv)
	t.openProgram(f, p)
}

func (t *toolFinder) openProgram(f *FoundTool, p launch) {
	own := f.Settings
	p.Env = p.Env.With(map[string]string{"PWD": p.Dir, state.Inside: state.ParseChain(t.host.Environ.Get(state.Inside)).With(t.cfg.Root, "the tool "+f.ID)})
	box := t.confine(f, p.Dir)
	if f.Tool.Problem != "" {
		return
	}
	if p.Sandbox = box; box != nil {
		p.Env = p.Env.With(box.Environ())
		p.terms = append(p.terms, dish.Term{Name: "sandbox", Value: "confined"})
	}
	opened, err := oneshot.Open(oneshot.Options{
		ID: p.ID, Argv: p.Argv, Dir: p.Dir, Env: p.Env, SHA256: p.SHA256, Capabilities: own.Capabilities, Timeout: own.Timeout, Launch: own.Launch, Handshake: own.Handshake, Teardown: own.Teardown,
		Sandbox: box, Trace: t.traceOf(f), Audit: t.o.Audit,
	})
	if err != nil {
		f.Tool.Problem = err.Error()
		return
	}
	files := append([]string{f.Path}, p.scripts...)
	id := &toolIdentity{digests: t.digests, files: files, pin: p.SHA256, terms: slices.Concat([]dish.Term{
		{Name: "contract", Value: oneshot.Protocol},
		{Name: "command", Value: strings.Join(p.words, "\n")},
	}, p.terms, grants(own, p.Env))}
	f.Launch, f.Oneshot, f.Tool.Call = &p, opened, opened
	f.Tool.Files, f.Tool.Identity, f.Tool.Changed = t.inWorkspace(files), id.once(), id.changed
}

// confine returns the sandbox of a program, nil for none. It sets the Problem of a tool that must not start without
// a sandbox.
func (t *toolFinder) confine(f *FoundTool, dir string) *host.Sandbox {
	mode := t.cfg.ToolSandbox(f.ID)
	if mode.Text == config.SandboxOff || t.state == nil { // without a state, tools are only listed
		return nil
	}
	box, err := t.confiner.Box("tool-"+f.ID, mode)
	if err != nil {
		f.Tool.Problem, f.Tool.Hint = "the tool "+f.ID+" "+err.Error(), `"auto" at `+mode.Pos.String()+" confines tools as far as the kernel can"
		return nil
	}
	box.Read = append(t.confiner.Paths(t.cfg.ToolReads(f.ID)), dir) // the program itself is always readable
	return box
}

// Run calls the tool. The error of an invalid call is a diagnostics.Problems.
func (f *FoundTool) Run(ctx context.Context, c adapters.ToolCall) (adapters.ToolAnswer, error) {
	answer, err := f.Tool.Call.Call(ctx, c)
	var invalid *oneshot.SpecError
	if errors.As(err, &invalid) && ctx.Err() == nil {
		err = diagnostics.Refuse("tool_call", "bento tool info "+f.ID+" --handshake lists its functions", "%v", err)
	}
	return answer, err
}

// traceOf returns the function that records the lines of a program, nil for no trace.
func (t *toolFinder) traceOf(f *FoundTool) func(sent bool, body []byte) {
	if t.o.Trace == nil {
		return nil
	}
	id, path := f.ID, f.Path
	return func(sent bool, body []byte) {
		t.o.Trace(adapter.Frame{ID: id, Path: path, Time: time.Now(), Sent: sent, Body: body})
	}
}

// moduleOf has the data of a module that is not in its file.
type moduleOf struct {
	sha256   string
	manifest *wasm.Manifest // nil for a bare module
	terms    []dish.Term
	beside   []string // other files of its package; the terms have their digest
}

// openModule opens a module.
func (t *toolFinder) openModule(f *FoundTool, m moduleOf) {
	own := f.Settings
	if t.tools.engine == nil {
		t.tools.engine = wasm.NewEngine(wasm.EngineOptions{Dir: compiledDir(t.host, t.cfg.Root), Warn: t.o.Warn})
	}
	vars := make(map[string]string)
	for _, name := range own.Env {
		if value, set := t.host.Environ.Lookup(name); set {
			vars[name] = value
		}
	}
	maps.Copy(vars, own.SetEnv)
	within := t.above(f.Path)
	f.Module = &wasm.Options{
		ID: f.ID, Path: f.Path, Dir: within, SHA256: m.sha256, Manifest: m.manifest, Capabilities: own.Capabilities, Hosts: own.AllowedHosts, Env: vars,
		Limits:  wasm.Limits{Memory: own.Limits.Memory, Module: own.Limits.Module, Output: own.Limits.Output},
		Timeout: own.Timeout, Fuel: own.Limits.Fuel,
	}
	opened, err := t.tools.engine.Open(*f.Module)
	if err != nil {
		f.Tool.Problem = err.Error()
		var failure *adapters.Failure
		if errors.As(err, &failure) {
			f.Tool.Hint = failure.Hint
		}
		return
	}
	most := cmp.Or(own.Limits.Module, wasm.DefaultModule)
	id := &toolIdentity{digests: t.digests, files: []string{f.Path}, pin: m.sha256, most: most, within: within, terms: slices.Concat([]dish.Term{
		{Name: "contract", Value: "wasm ABI v" + strconv.Itoa(wasm.API)},
		{Name: "runtime", Value: wasmRuntime()},
	}, m.terms, grants(own, t.host.Environ.With(own.SetEnv)))}
	f.Wasm, f.Tool.Call, f.Tool.Within = opened, opened, true
	f.Tool.Files, f.Tool.Identity, f.Tool.Changed = t.inWorkspace(append(m.beside, id.files...)), id.once(), id.changed
}

// above returns the directory below which no link may lead to a module: the workspace, or else the directory of
// the module.
func (t *toolFinder) above(module string) string {
	if clone.At(t.cfg.Root).Holds(module) {
		return t.cfg.Root
	}
	return filepath.Dir(module)
}

// wasmRuntime returns the name and version of the runtime of modules.
func wasmRuntime() string {
	const path = "github.com/tetratelabs/wazero"
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			if m.Path == path {
				return "wazero " + m.Version
			}
		}
	}
	return "wazero"
}

// scripts returns the files of the workspace among the arguments of a program, such as the script of
// an interpreter.
func (t *toolFinder) scripts(own config.Tool) (files []string) {
	for _, w := range own.Command[min(1, len(own.Command)):] {
		path := filepath.FromSlash(w.Text)
		if !filepath.IsAbs(path) {
			path = filepath.Join(t.cfg.Root, path)
		}
		if fi, err := os.Stat(path); err == nil && fi.Mode().IsRegular() && len(t.inWorkspace([]string{path})) > 0 {
			files = append(files, path)
		}
	}
	return files
}

// inWorkspace returns the files that are in the workspace, relative to the root.
func (t *toolFinder) inWorkspace(files []string) (paths []string) {
	for _, f := range files {
		if rel, err := filepath.Rel(t.cfg.Root, f); err == nil && filepath.IsLocal(rel) && !strings.HasPrefix(filepath.ToSlash(rel)+"/", state.Name+"/") {
			paths = append(paths, filepath.ToSlash(rel))
		}
	}
	return paths
}

// programOf returns the absolute path of the program of a command, or the word itself if PATH lacks the program.
func (t *toolFinder) programOf(root, word string) string {
	if !strings.ContainsRune(word, filepath.Separator) {
		if found, err := t.host.Environ.LookPath(word); err == nil {
			return found
		}
		return word
	}
	if filepath.IsAbs(word) {
		return word
	}
	return filepath.Join(root, word)
}
