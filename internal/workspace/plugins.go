package workspace

import (
	"context"
	"slices"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/discovery"
	"github.com/bentobuild/bento/internal/bounds"
	"github.com/bentobuild/bento/internal/clone"
	"github.com/bentobuild/bento/internal/config"
	"github.com/bentobuild/bento/internal/state"
	"github.com/bentobuild/bento/plugin/adapter"
	"github.com/bentobuild/bento/plugin/host"
)

// FindPlugins searches PATH for the plugins of a workspace, and returns the options to start
// them with. Candidates that must not start are marked, and the problems say why. saved has the answers of earlier
// invocations; it may be nil.
func (h *Host) FindPlugins(cfg *config.Workspace, st *state.Dir, saved *state.Parts) ([]adapters.Candidate, adapter.Options, []diagnostics.Diagnostic) {
	digests := host.NewDigests(st)
	in, damaged := h.Places(cfg)
	in.Saved = saved
	candidates, problems := discovery.Adapters(in, cfg, digests.Executable)
	problems = append(damaged, problems...)
	o, more := h.PluginOptions(candidates, cfg, st)
	o.Digests = digests
	return candidates, o, append(problems, more...)
}

// Places returns the places of plugins in the order of the search: files that the user names, PATH, and then the
// packages that the user has installed.
func (h *Host) Places(cfg *config.Workspace) (discovery.Places, []diagnostics.Diagnostic) {
	in := discovery.Places{Path: h.Environ.Get("PATH")}
	named, problems := h.named(cfg)
	in.Named = named
	if h.Installed == nil {
		return in, problems
	}
	installed, more := h.Installed(cfg)
	in.Installed = installed
	return in, append(problems, more...)
}

// PluginOptions returns the options to start plugins of a workspace with. Candidates that
// must not start are marked, and the problems say why.
func (h *Host) PluginOptions(candidates []adapters.Candidate, cfg *config.Workspace, st *state.Dir) (adapter.Options, []diagnostics.Diagnostic) {
	pass, settings := make(map[string][]string, len(cfg.Plugins.ByID)), make(map[string]string)
	for id, p := range cfg.Plugins.ByID {
		pass[id] = p.PassEnv
		if p.Options.JSON != "" {
			settings[id] = p.Options.JSON
		}
	}
	boxes, problems := h.confine(candidates, cfg, st)
	env := h.Environ
	if slices.ContainsFunc(candidates, func(c adapters.Candidate) bool { return c.Skip == "" }) {
		env = h.PluginEnv(cfg.Root) // reads each directory of PATH
	}
	return adapter.Options{Env: env, PassEnv: pass, Settings: settings, Identities: h.identities(candidates, cfg), Sandbox: boxes, Version: h.Version, Stderr: h.Stderr, Log: h.Log, Keep: h.Keep,
		Root: cfg.Root, Module: h.Module,
		Source: snapshot.Options{Clone: clone.At(cfg.Root)}.Source(), Tools: h.Environ.Strict()}, problems
}

// PluginEnv returns the environment of which plugins get parts. A plugin belongs to the user, and a script finds its
// interpreter on PATH, which must not lead to a program of the clone. Every command starts plugins in this
// environment, so that their answers are the same.
func (h *Host) PluginEnv(root string) adapters.Environ {
	return bounds.Of(root).Free(h.Environ)
}

// StartPlugins starts the candidates that are not marked. A built-in adapter takes precedence over a plugin of the
// same id.
func (h *Host) StartPlugins(ctx context.Context, candidates []adapters.Candidate, o adapter.Options, own []adapters.Adapter) (*adapter.Set, error) {
	for _, a := range own {
		o.Builtin = append(o.Builtin, a.Manifest().AdapterID)
	}
	return adapter.Start(ctx, candidates, o)
}
