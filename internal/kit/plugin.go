package kit

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/discovery"
	"github.com/bentobuild/bento/internal/config"
	"github.com/bentobuild/bento/internal/owner"
	"github.com/bentobuild/bento/internal/state"
	"github.com/bentobuild/bento/internal/workspace"
	"github.com/bentobuild/bento/plugin/adapter"
	"github.com/bentobuild/bento/plugin/host"
	"github.com/bentobuild/bento/plugin/plugintest"
)

// Plugin is a plugin that a command names, or an adapter that a file or the workspace defines. It is not started.
type Plugin struct {
	adapters.Candidate
	host    *workspace.Host
	cfg     *config.Workspace
	adapter adapters.Adapter // of a definition; else nil
}

// FindPlugin returns the executable or the definition at a path, the adapter of the workspace with
// an id, or the first on PATH. The id is "" if the file has no plugin's name. A plugin that the
// workspace forbids is found by its path only. read reads the file of a definition.
func FindPlugin(h *workspace.Host, cfg *config.Workspace, target string, read func(path string) ([]byte, error)) (*Plugin, error) {
	p := &Plugin{host: h, cfg: cfg}
	if strings.HasSuffix(target, ".toml") {
		return p, p.defineBy(target, read)
	}
	if i := slices.IndexFunc(cfg.Adapters, func(a config.Adapter) bool { return a.ID == target }); i >= 0 {
		p.Path = filepath.Join(cfg.Root, cfg.Adapters[i].Pos.File)
		return p, p.define(cfg.Adapters[i])
	}
	if strings.ContainsRune(target, filepath.Separator) {
		return p, p.at(target)
	}
	return p, p.onPath(target)
}

// defineBy sets p to the adapter that a file defines.
func (p *Plugin) defineBy(path string, read func(path string) ([]byte, error)) (err error) {
	if p.Path, err = filepath.Abs(path); err != nil {
		return err
	}
	text, err := read(path)
	if err != nil {
		return diagnostics.Refuse("plugin_not_found", "", "%q cannot be read: %v", path, err)
	}
	a, problems := config.ParseAdapter(path, text)
	if err := diagnostics.AsError(problems); err != nil {
		return err
	}
	return p.define(a)
}

// define checks a definition and sets p to its adapter.
func (p *Plugin) define(a config.Adapter) error {
	about := snapshot.Options{Env: p.host.Environ}
	defined, problems := workspace.Defined([]config.Adapter{a}, p.host.Adapters(about), about)
	if err := diagnostics.AsError(problems); err != nil {
		return err
	}
	p.adapter, p.ID, p.Contract = defined[0], a.ID, adapters.ContractDefinition
	return nil
}

// at sets p to the executable or the module at a path.
func (p *Plugin) at(target string) error {
	path, err := filepath.Abs(target)
	if err == nil {
		_, err = os.Stat(path)
	}
	if err != nil {
		return diagnostics.Refuse("plugin_not_found", "", "%v", err)
	}
	id, ok := strings.CutPrefix(filepath.Base(path), discovery.PluginPrefix)
	if id, _, _ = strings.Cut(id, "."); !ok {
		id = ""
	}
	p.Candidate = adapters.Candidate{ID: id, Path: path, Contract: adapters.ContractV1}
	if filepath.Ext(path) == ".wasm" {
		p.Contract = adapters.ContractWasm
	}
	return nil
}

// onPath sets p to the first usable plugin with an id.
func (p *Plugin) onPath(id string) error {
	in, _ := p.host.Places(p.cfg)
	found, _ := discovery.Adapters(in, p.cfg, (*host.Digests)(nil).Executable)
	ids := make([]string, len(found))
	var passedOver error // a later candidate may be usable
	for i, c := range found {
		switch ids[i] = c.ID; {
		case c.ID != id:
		case c.Skip == "":
			p.Candidate = c
			return nil
		case passedOver != nil:
		case c.Skip == adapters.SkipUnusable:
			passedOver = diagnostics.Refuse("plugin_unusable", "correct or remove it", "%s is no plugin: %s", c.Path, c.SkipReason)
		default:
			passedOver = diagnostics.Refuse(c.Skip, "name its file to start it: "+c.Path, "plugin %s: %s", id, c.SkipReason)
		}
	}
	if passedOver != nil {
		return passedOver
	}
	slices.Sort(ids)
	hint := diagnostics.Suggest(id, slices.Compact(ids))
	if hint == "" {
		hint = "use an id that bento plugin list prints, or the path of the file"
	}
	return diagnostics.Refuse("plugin_not_found", hint, "%s%s is not on PATH", discovery.PluginPrefix, id)
}

// launcher returns the launcher of a definition, nil for an executable.
func (p *Plugin) launcher() host.Launcher {
	if p.adapter == nil {
		return nil
	}
	return plugintest.Served{Adapter: p.adapter}
}

// Start starts the plugin alone; the caller closes the set. log receives its progress. If the plugin does not start, the
// error is its *adapters.Failure.
func (p *Plugin) Start(ctx context.Context, log func(adapters.Log)) (*adapter.Set, []diagnostics.Diagnostic, error) {
	if p.ID == "" {
		return nil, nil, diagnostics.Refuse("plugin_not_found", "rename it, or make a link", "%q is not named bento-adapter-<id>", p.Path)
	}
	candidates := []adapters.Candidate{p.Candidate}
	st := state.Open(p.cfg.Root)
	if err := st.Check(ctx); err != nil {
		return nil, nil, err
	}
	o, problems := p.host.PluginOptions(candidates, p.cfg, st)
	if err := diagnostics.AsError(problems); err != nil {
		return nil, nil, err
	}
	if launcher := p.launcher(); launcher != nil {
		o.Launch = func(adapters.Candidate) host.Launcher { return launcher }
	}
	o.Log = func(_ string, l adapters.Log) { log(l) }
	set, err := adapter.Start(ctx, candidates, o)
	if err != nil {
		return nil, nil, err
	}
	if f := set.Failures()[p.ID]; f != nil {
		set.Close()
		return nil, nil, f
	}
	return set, append(problems, set.Warnings()...), nil
}

// Suite returns the options by which the conformance suite starts the plugin in the same way as bento.
func (p *Plugin) Suite(within time.Duration) plugintest.Options {
	env := p.host.PluginEnv(p.cfg.Root).Strict(p.cfg.Plugins.ByID[p.ID].PassEnv...)
	return plugintest.Options{ID: p.ID, Launcher: p.launcher(), Setup: plugintest.Setup{Env: env, Within: within}}
}

// NamedOnly returns why bento starts the file only if it is named, "" if it starts it anyway. It leaves out a pinned
// plugin that other users may write to, as bento starts a copy of it.
func (p *Plugin) NamedOnly() (why, hint string) {
	pin := p.cfg.Plugins.ByID[p.ID].SHA256
	if e, err := owner.Of(p.cfg.Root).Ways().To(p.Path); err == nil && e != nil && p.SHA256 == "" {
		why, hint = e.Why, e.Fix
	}
	if sum := (*host.Digests)(nil).Executable(p.Path); pin.Text != "" && p.adapter == nil && sum != pin.Text {
		why, hint = fmt.Sprintf("its sha256 is %s, and %s pins %s", sum, pin.Pos, pin.Text), "if you trust its present content: bento plugin lock "+p.ID
	}
	return why, hint
}
