package kit

import (
	"context"
	"maps"
	"path/filepath"
	"slices"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/discovery"
	"github.com/bentobuild/bento/internal/config"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/state"
	"github.com/bentobuild/bento/internal/workspace"
	"github.com/bentobuild/bento/plugin/adapter"
	"github.com/bentobuild/bento/plugin/host"
	"github.com/bentobuild/bento/plugin/oneshot"
	"github.com/bentobuild/bento/plugin/wasm"
)

// FoundTool is a tool that bento.toml declares or that was found on PATH, whether or not it is usable. It is not
// started yet.
type FoundTool struct {
	adapters.Candidate
	Declared diagnostics.Pos // its table in bento.toml; zero for a tool on PATH
	Settings config.Tool     // the settings for the tool
	Tool     *dish.Tool      // nil with Skip; set for the entry that bento uses for its id
	Oneshot  *oneshot.Tool   // of a program
	Launch   *launch         // of a program: its start
	Wasm     *wasm.Tool      // of a module
	Module   *wasm.Options   // of a module: its options
}

// Tools are the tools of a workspace. Close ends them.
type Tools struct {
	List []FoundTool

	engine *wasm.Engine // nil until a module was opened
}

// Close ends the modules.
func (t *Tools) Close() {
	if t.engine != nil {
		t.engine.Close()
	}
}

// Engine returns the engine of modules, nil if no module was opened.
func (t *Tools) Engine() *wasm.Engine { return t.engine }

// tools opens the tools of a workspace.
func (k *kit) tools(ctx context.Context, w *workspace.Workspace, warn func(code, message, hint string)) (workspace.Tools, []diagnostics.Diagnostic) {
	found, problems := FindTools(k.host, w.Config, w.State, ToolOptions{Trace: adapter.TraceOf(ctx), Warn: func(message, hint string) { warn("tool_cache", message, hint) }})
	tools := workspace.Tools{ByID: make(map[string]*dish.Tool), Close: found.Close}
	for _, f := range found.List {
		switch {
		case f.Tool != nil:
			tools.ByID[f.ID] = f.Tool
		case tools.ByID[f.ID] == nil:
			tools.ByID[f.ID] = &dish.Tool{ID: f.ID, Problem: "the tool " + f.ID + " is not used: " + f.SkipReason, Hint: f.SkipHint}
		}
	}
	return tools, problems
}

// FindTools returns the tools of a workspace: the declared tools sorted by id, then the tools on PATH in its
// order. st may be nil. FindTools reads the content of pinned files only.
//
// o has the receivers of the calls.
func FindTools(h *workspace.Host, cfg *config.Workspace, st *state.Dir, o ToolOptions) (*Tools, []diagnostics.Diagnostic) {
	t := &toolFinder{host: h, o: o, tools: new(Tools), cfg: cfg, used: make(map[string]bool), state: st, confiner: h.Confiner(cfg, st)}
	if st != nil {
		t.digests = host.NewDigests(st)
	}
	for _, id := range slices.Sorted(maps.Keys(cfg.Tools.ByID)) {
		if own := cfg.Tools.ByID[id]; own.Declares() {
			t.declared(id, own)
		}
	}
	onPath, problems := discovery.Tools(h.Environ.Get("PATH"), cfg, t.digests.Executable)
	for _, c := range onPath {
		t.onPath(c)
	}
	t.problems = slices.Concat(t.problems, problems, t.confiner.Problems("one-shot tools"))
	t.settingsOfNone()
	return t.tools, diagnostics.Sorted(t.problems)
}

// ToolOptions are the receivers of calls of tools. All may be nil.
type ToolOptions struct {
	Trace func(adapter.Frame)        // each line to or from a program
	Audit func(host.Audit)           // each call of a program
	Warn  func(message, hint string) // about the directory of compiled modules
}

// toolFinder finds the tools of one invocation.
type toolFinder struct {
	host     *workspace.Host
	o        ToolOptions
	tools    *Tools
	cfg      *config.Workspace
	digests  *host.Digests
	used     map[string]bool // ids that a tool already has
	problems []diagnostics.Diagnostic
	state    *state.Dir // may be nil
	confiner *workspace.Confiner
}

// declared adds a tool that bento.toml declares. It takes precedence over tools on PATH.
func (t *toolFinder) declared(id string, own config.Tool) {
	f := FoundTool{Candidate: adapters.Candidate{ID: id, Contract: adapters.ContractOneShot}, Declared: own.Pos, Settings: own}
	t.used[id] = true
	if i := slices.IndexFunc(t.cfg.Tools.Disable, func(d dish.Text) bool { return d.Text == id }); i >= 0 {
		f.Skip, f.SkipReason = adapters.SkipDisabled, "tools.disable names it at "+t.cfg.Tools.Disable[i].Pos.String()
	}
	switch {
	case own.Wasm.Text != "":
		f.Contract, f.Path = adapters.ContractWasm, filepath.Join(t.cfg.Root, filepath.FromSlash(own.Wasm.Text))
	case own.Package.Text != "":
		f.Contract, f.Path = "package", own.Package.Text
	default:
		f.Path = t.programOf(t.cfg.Root, own.Command[0].Text)
	}
	f.SHA256 = own.SHA256.Text
	t.add(f)
}

// onPath adds a tool on PATH. If several have the same id, bento uses the first usable one.
func (t *toolFinder) onPath(c adapters.Candidate) {
	f := FoundTool{Candidate: c, Settings: t.cfg.Tools.ByID[c.ID]}
	if c.Skip == "" && t.used[c.ID] {
		f.Skip, f.SkipReason = adapters.SkipShadowed, "another tool of this id comes first"
	}
	t.used[c.ID] = t.used[c.ID] || f.Skip == ""
	t.add(f)
}

func (t *toolFinder) add(f FoundTool) {
	if f.Skip == "" {
		t.open(&f)
	}
	t.tools.List = append(t.tools.List, f)
}

// settingsOfNone warns of tables for tools that were not found.
func (t *toolFinder) settingsOfNone() {
	for _, id := range slices.Sorted(maps.Keys(t.cfg.Tools.ByID)) {
		if !slices.ContainsFunc(t.tools.List, func(f FoundTool) bool { return f.ID == id }) {
			own := t.cfg.Tools.ByID[id]
			t.problems = append(t.problems, own.Pos.Warning(discovery.RuleToolFile, "[tools.%s] has neither command, wasm nor package, and no bento-tool-%s is on PATH", id, id).
				WithHint("declare the tool, or install it on PATH"))
		}
	}
}
