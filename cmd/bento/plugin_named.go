package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/builtin"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/discovery"
	"github.com/bentobuild/bento/internal/config"
	"github.com/bentobuild/bento/internal/report"
	"github.com/bentobuild/bento/internal/state"
	"github.com/bentobuild/bento/internal/workspace"
	"github.com/bentobuild/bento/plugin/adapter"
	"github.com/bentobuild/bento/plugin/host"
	"github.com/bentobuild/bento/plugin/plugintest"
)

// namedPlugin is a plugin, or an adapter that a file or the workspace defines.
type namedPlugin struct {
	adapters.Candidate
	cfg     *config.Workspace
	adapter adapters.Adapter // of a definition; else nil
}

// launcher returns the launcher of a definition, nil for an executable.
func (p *namedPlugin) launcher() host.Launcher {
	if p.adapter == nil {
		return nil
	}
	return plugintest.Served{Adapter: p.adapter}
}

// pluginNamed returns the executable or the definition at a path, the adapter of the workspace with
// an id, or the first on PATH. The id is "" if the file has no plugin's name. A plugin that the
// workspace forbids is found by its path only.
func (s *session) pluginNamed(ctx context.Context, target string) (p namedPlugin, err error) {
	p.cfg = &config.Workspace{}
	if root, _, err := s.root(); err == nil {
		var problems []diagnostics.Diagnostic
		p.cfg, problems = config.Load(root, s.host().OwnConfig())
		report.WriteProblems(s.err, s.style, problems)
	}
	if strings.HasSuffix(target, ".toml") {
		err := s.definitionAt(ctx, &p, target)
		return p, err
	}
	if i := slices.IndexFunc(p.cfg.Adapters, func(a config.Adapter) bool { return a.ID == target }); i >= 0 {
		p.Path = filepath.Join(p.cfg.Root, p.cfg.Adapters[i].Pos.File)
		err := s.define(&p, p.cfg.Adapters[i])
		return p, err
	}
	find := s.pluginOnPath
	if strings.ContainsRune(target, filepath.Separator) {
		find = pluginAt
	}
	p.Candidate, err = find(target, p.cfg)
	return p, err
}

// definitionAt sets p to the adapter that a file defines.
func (s *session) definitionAt(ctx context.Context, p *namedPlugin, path string) (err error) {
	if p.Path, err = filepath.Abs(path); err != nil {
		return err
	}
	text, err := readNamed(ctx, path)
	if err != nil {
		return notFound("plugin_not_found", fmt.Sprintf("%q cannot be read: %v", path, err), "")
	}
	a, problems := config.ParseAdapter(path, text)
	if err := diagnostics.AsError(problems); err != nil {
		return err
	}
	return s.define(p, a)
}

// define checks a definition and sets p to its adapter.
func (s *session) define(p *namedPlugin, a config.Adapter) error {
	about := adapters.Options{Env: s.environ}
	defined, problems := workspace.Defined([]config.Adapter{a}, builtin.All(about), about)
	if err := diagnostics.AsError(problems); err != nil {
		return err
	}
	p.adapter, p.ID, p.Contract = defined[0], a.ID, adapters.ContractDefinition
	return nil
}

func pluginAt(target string, _ *config.Workspace) (adapters.Candidate, error) {
	path, err := filepath.Abs(target)
	if err == nil {
		_, err = os.Stat(path)
	}
	if err != nil {
		return adapters.Candidate{}, notFound("plugin_not_found", err.Error(), "")
	}
	id, ok := strings.CutPrefix(filepath.Base(path), "bento-adapter-")
	if id, _, _ = strings.Cut(id, "."); !ok {
		id = ""
	}
	c := adapters.Candidate{ID: id, Path: path, Contract: adapters.ContractV1}
	if filepath.Ext(path) == ".wasm" {
		c.Contract = adapters.ContractWasm
	}
	return c, nil
}

func (s *session) pluginOnPath(id string, cfg *config.Workspace) (adapters.Candidate, error) {
	in, _ := s.host().Places(cfg)
	found, _ := discovery.Adapters(in, cfg, nil, (*host.Digests)(nil).Executable)
	ids := make([]string, len(found))
	var passedOver error // a later candidate may be usable
	for i, c := range found {
		switch ids[i] = c.ID; {
		case c.ID != id:
		case c.Skip == "":
			return c, nil
		case passedOver != nil:
		case c.Skip == adapters.SkipUnusable:
			passedOver = notFound("plugin_unusable", fmt.Sprintf("%s is no plugin: %s", c.Path, c.SkipReason), "correct or remove it")
		default:
			passedOver = notFound(c.Skip, fmt.Sprintf("plugin %s: %s", id, c.SkipReason), "name its file to start it: "+c.Path)
		}
	}
	if passedOver != nil {
		return adapters.Candidate{}, passedOver
	}
	slices.Sort(ids)
	hint := diagnostics.Suggest(id, slices.Compact(ids))
	if hint == "" {
		hint = "use an id that bento plugin list prints, or the path of the file"
	}
	return adapters.Candidate{}, notFound("plugin_not_found", fmt.Sprintf("bento-adapter-%s is not on PATH", id), hint)
}

// withPlugin starts one plugin, calls use, and ends the plugin. If the plugin does not start,
// the error is its *adapters.Failure.
func (s *session) withPlugin(ctx context.Context, target string, use func(*adapter.Process, adapter.Status) error) error {
	p, err := s.pluginNamed(ctx, target)
	if err != nil {
		return err
	}
	c, cfg := p.Candidate, p.cfg
	if c.ID == "" {
		return notFound("plugin_not_found", fmt.Sprintf("%q is not named bento-adapter-<id>", c.Path), "rename it, or make a link")
	}
	candidates := []adapters.Candidate{c}
	st := state.Open(cfg.Root)
	if err := st.Check(ctx); err != nil {
		return err
	}
	o, problems := s.host().PluginOptions(candidates, cfg, st)
	if err := diagnostics.AsError(problems); err != nil {
		return err
	}
	if launcher := p.launcher(); launcher != nil {
		o.Launch = func(adapters.Candidate) host.Launcher { return launcher }
	}
	o.Log = func(_ string, l adapters.Log) { s.tell(l) }
	set, err := adapter.Start(ctx, candidates, o)
	if err != nil {
		return err
	}
	defer set.Close()
	if f := set.Failures()[c.ID]; f != nil {
		return f
	}
	report.WriteProblems(s.err, s.style, append(problems, set.Warnings()...))
	return use(set.Adapters()[0].(*adapter.Process), set.Status()[0])
}

// tell shows progress on stderr: stdout is for the result.
func (s *session) tell(l adapters.Log) { report.WriteLog(s.err, l) }
