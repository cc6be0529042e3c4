package workspace

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/discovery"
	"github.com/bentobuild/bento/internal/bounds"
	"github.com/bentobuild/bento/internal/config"
	"github.com/bentobuild/bento/internal/state"
	"github.com/bentobuild/bento/plugin/host"
	"github.com/bentobuild/bento/plugin/oneshot"
	"github.com/bentobuild/bento/plugin/wasm"
)

// FoundTool is a tool that bento.toml declares or that was found on PATH, whether or not it can be
// used. Nothing of it has been started.
type FoundTool struct {
	adapters.Candidate
	Declared config.Pos      // its table in bento.toml; zero for a tool on PATH
	Settings config.Tool     // that apply to it
	Tool     *discovery.Tool // nil with Skip; the entry that counts for its id has one
	Oneshot  *oneshot.Tool   // of a program
	Wasm     *wasm.Tool      // of a module
}

// Tools are the tools of a workspace. Close ends them.
type Tools struct {
	List []FoundTool

	engine *wasm.Engine // nil until a module was opened
}

// Close ends the modules.
func (t *Tools) Close() {
	if t != nil && t.engine != nil {
		t.engine.Close()
	}
}

// FindTools returns the tools of a workspace: the declared ones by id, then those on PATH in its
// order. st may be nil. It reads no content of a file that is not pinned.
//
// o says who hears of the calls.
func (h *Host) FindTools(cfg *config.Workspace, st *state.Dir, o ToolOptions) (*Tools, []diagnostics.Diagnostic) {
	t := &toolFinder{host: h, o: o, tools: new(Tools), cfg: cfg, digests: host.NewDigests(st), taken: make(map[string]bool)}
	for _, id := range slices.Sorted(maps.Keys(cfg.Tools.ByID)) {
		if own := cfg.Tools.ByID[id]; own.Declares() {
			t.declared(id, own)
		}
	}
	onPath, problems := discovery.Tools(h.Environ.Get("PATH"), cfg, st, t.digests.Executable)
	for _, c := range onPath {
		t.onPath(c)
	}
	t.problems = append(t.problems, problems...)
	t.settingsOfNone()
	return t.tools, diagnostics.Sorted(t.problems)
}

// ToolOptions say who hears of the calls of tools. All may be nil.
type ToolOptions struct {
	Trace func(sent bool, body []byte) // each line that a program is sent or sends
	Audit func(host.Audit)             // each call of a program
	Warn  func(message, hint string)   // about the directory of compiled modules
}

// toolFinder finds the tools of one invocation.
type toolFinder struct {
	host     *Host
	o        ToolOptions
	tools    *Tools
	cfg      *config.Workspace
	digests  *host.Digests
	taken    map[string]bool // ids of tools that count
	problems []diagnostics.Diagnostic
}

// declared adds a tool that bento.toml declares. It counts before those on PATH.
func (t *toolFinder) declared(id string, own config.Tool) {
	f := FoundTool{Candidate: adapters.Candidate{ID: id, Contract: adapters.ContractOneShot}, Declared: own.Pos, Settings: own}
	t.taken[id] = true
	if i := slices.IndexFunc(t.cfg.Tools.Disable, func(d config.Text) bool { return d.Text == id }); i >= 0 {
		f.Skip, f.SkipReason = adapters.SkipDisabled, "tools.disable names it at "+t.cfg.Tools.Disable[i].Pos.String()
	}
	switch {
	case own.Wasm.Text != "":
		f.Contract, f.Path = adapters.ContractWasm, filepath.Join(t.cfg.Root, filepath.FromSlash(own.Wasm.Text))
	case own.Package.Text != "":
		f.Contract, f.Path = "package", own.Package.Text
	default:
		f.Path = t.host.programOf(t.cfg.Root, own.Command[0].Text)
	}
	f.SHA256 = own.SHA256.Text
	t.add(f)
}

// onPath adds a tool on PATH. Of two with one id, the first counts that can be used.
func (t *toolFinder) onPath(c adapters.Candidate) {
	f := FoundTool{Candidate: c, Settings: t.cfg.Tools.ByID[c.ID]}
	if c.Skip == "" && t.taken[c.ID] {
		f.Skip, f.SkipReason = adapters.SkipShadowed, "another tool of this id comes first"
	}
	t.taken[c.ID] = t.taken[c.ID] || f.Skip == ""
	t.add(f)
}

func (t *toolFinder) add(f FoundTool) {
	if f.Skip == "" {
		t.open(&f)
	}
	t.tools.List = append(t.tools.List, f)
}

// settingsOfNone warns of tables without a tool.
func (t *toolFinder) settingsOfNone() {
	for _, id := range slices.Sorted(maps.Keys(t.cfg.Tools.ByID)) {
		if !slices.ContainsFunc(t.tools.List, func(f FoundTool) bool { return f.ID == id }) {
			own := t.cfg.Tools.ByID[id]
			d := own.Pos.Warning(discovery.RuleToolFile, "[tools.%s] has neither command, wasm nor package, and no bento-tool-%s is on PATH", id, id)
			d.Hint = "declare the tool, or install it on PATH"
			t.problems = append(t.problems, d)
		}
	}
}

// open sets what the tool is called through. It checks the settings and starts nothing.
func (t *toolFinder) open(f *FoundTool) {
	f.Tool = &discovery.Tool{ID: f.ID}
	switch {
	case f.Contract == adapters.ContractOneShot:
		t.openOneshot(f)
	case f.Contract == adapters.ContractWasm:
		t.openWasm(f)
	default:
		f.Tool.Problem = "tools of the contract " + f.Contract + " cannot be opened"
	}
}

// openOneshot opens a program.
func (t *toolFinder) openOneshot(f *FoundTool) {
	root, own := t.cfg.Root, f.Settings
	argv, env := []string{f.Path}, t.host.PluginEnv(root) // the user's tool, as a plugin
	words := []string{filepath.Base(f.Path)}
	if own.Declares() {
		env, words = t.host.Environ, nil // runs as a task runs
		for _, w := range own.Command {
			words = append(words, w.Text)
		}
		argv = append(argv, words[1:]...)
	}
	env = env.Strict(own.Env...).With(own.SetEnv).With(map[string]string{"PWD": root, state.Inside: root})
	opened, err := oneshot.Open(oneshot.Options{
		ID: f.ID, Argv: argv, Dir: root, Env: env, SHA256: f.SHA256, Capabilities: own.Capabilities, Timeout: own.Timeout,
		Trace: t.o.Trace, Audit: t.o.Audit,
	})
	if err != nil {
		f.Tool.Problem = err.Error()
		return
	}
	files := append([]string{f.Path}, t.scripts(own)...)
	id := &toolIdentity{digests: t.digests, files: files, pin: f.SHA256, terms: append([]discovery.Term{
		{Name: "contract", Value: oneshot.Protocol},
		{Name: "command", Value: strings.Join(words, "\n")},
	}, grants(own, env)...)}
	f.Oneshot, f.Tool.Call = opened, opened
	f.Tool.Files, f.Tool.Identity, f.Tool.Changed = t.inWorkspace(files), id.once(), id.changed
}

// openWasm opens a module.
func (t *toolFinder) openWasm(f *FoundTool) {
	own := f.Settings
	if t.tools.engine == nil {
		t.tools.engine = wasm.NewEngine(wasm.EngineOptions{Dir: t.host.compiledDir(t.cfg.Root), Warn: t.o.Warn})
	}
	vars := make(map[string]string)
	for _, name := range own.Env {
		if value, set := t.host.Environ.Lookup(name); set {
			vars[name] = value
		}
	}
	maps.Copy(vars, own.SetEnv)
	opened, err := t.tools.engine.Open(wasm.Options{
		ID: f.ID, Path: f.Path, SHA256: f.SHA256, Capabilities: own.Capabilities, Hosts: own.AllowedHosts, Env: vars,
		Limits:  wasm.Limits{Memory: own.Limits.Memory, Module: own.Limits.Module, Output: own.Limits.Output},
		Timeout: own.Timeout, Fuel: own.Limits.Fuel,
	})
	if err != nil {
		f.Tool.Problem = err.Error()
		var failure *adapters.Failure
		if errors.As(err, &failure) {
			f.Tool.Hint = failure.Hint
		}
		return
	}
	id := &toolIdentity{digests: t.digests, files: []string{f.Path}, pin: f.SHA256, terms: append([]discovery.Term{
		{Name: "contract", Value: "wasm ABI v" + strconv.Itoa(wasm.API)},
		{Name: "runtime", Value: wasmRuntime()},
	}, grants(own, t.host.Environ.With(own.SetEnv))...)}
	f.Wasm, f.Tool.Call = opened, opened
	f.Tool.Files, f.Tool.Identity, f.Tool.Changed = t.inWorkspace(id.files), id.once(), id.changed
}

// compiledDir returns the directory of compiled modules, "" for none. What lies there is executed, so
// it is the user's, whatever the configuration of the cache says, and never the repository's.
func (h *Host) compiledDir(root string) string {
	base := h.Environ.Get("XDG_CACHE_HOME")
	if home := h.Environ.Get("HOME"); !filepath.IsAbs(base) && filepath.IsAbs(home) {
		base = filepath.Join(home, ".cache")
	}
	dir := filepath.Join(base, "bento", "wasm")
	if !filepath.IsAbs(base) || bounds.Of(root).Reached(dir) {
		return ""
	}
	return dir
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

// inWorkspace returns those of files that lie in the workspace, relative to the root.
func (t *toolFinder) inWorkspace(files []string) (paths []string) {
	for _, f := range files {
		if rel, err := filepath.Rel(t.cfg.Root, f); err == nil && filepath.IsLocal(rel) && !isOwn(filepath.ToSlash(rel)) {
			paths = append(paths, filepath.ToSlash(rel))
		}
	}
	return paths
}

// programOf returns the absolute path of the program of a command, or the word itself for one that is
// not on PATH.
func (h *Host) programOf(root, word string) string {
	if !strings.ContainsRune(word, filepath.Separator) {
		if found, err := h.Environ.LookPath(word); err == nil {
			return found
		}
		return word
	}
	if filepath.IsAbs(word) {
		return word
	}
	return filepath.Join(root, word)
}

// openTools opens the tools of a workspace if a task or a parser names one.
func (h *Host) openTools(w *Workspace, o *Options) []diagnostics.Diagnostic {
	if !slices.ContainsFunc(w.Dishes, usesTools) {
		return nil
	}
	found, problems := h.FindTools(w.Config, w.State, ToolOptions{Warn: func(message, hint string) { o.Warn("tool_cache", message, hint) }})
	tools := make(map[string]*discovery.Tool)
	for _, f := range found.List {
		switch {
		case f.Tool != nil:
			tools[f.ID] = f.Tool
		case tools[f.ID] == nil:
			tools[f.ID] = &discovery.Tool{ID: f.ID, Problem: "the tool " + f.ID + " is not used: " + f.SkipReason, Hint: f.SkipHint}
		}
	}
	w.tools, w.Tools = found, tools
	return problems
}

// usesTools reports whether a task of a dish calls a tool, or a tool parses what it prints.
func usesTools(d *discovery.Dish) bool {
	if d.Config != nil && slices.ContainsFunc(d.Config.Tasks, func(t config.Task) bool { return t.Tool.Text != "" || t.Parser.Text != "" }) {
		return true
	}
	if _, isPlugin := d.Adapter.(adapters.Starter); !isPlugin {
		return false // no built-in adapter names one
	}
	for _, hook := range d.Adapter.Manifest().DiagnosticHooks {
		if strings.HasPrefix(hook.Parser, config.ToolParser) {
			return true
		}
	}
	return false
}
