package workspace

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/discovery"
	"github.com/bentobuild/bento/internal/bounds"
	"github.com/bentobuild/bento/internal/clone"
	"github.com/bentobuild/bento/internal/config"
	"github.com/bentobuild/bento/internal/sandbox"
	"github.com/bentobuild/bento/internal/state"
	"github.com/bentobuild/bento/plugin/adapter"
	"github.com/bentobuild/bento/plugin/bundle"
	"github.com/bentobuild/bento/plugin/bundle/seal"
	"github.com/bentobuild/bento/plugin/host"
)

// FindPlugins searches PATH for the plugins of a workspace, and returns the options to start
// them with. Candidates that must not start are marked, and the problems say why.
func (h *Host) FindPlugins(cfg *config.Workspace, st *state.Dir) ([]adapters.Candidate, adapter.Options, []diagnostics.Diagnostic) {
	digests := host.NewDigests(st)
	in, damaged := h.Places(cfg)
	candidates, problems := discovery.Adapters(in, cfg, st, digests.Executable)
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
	dir := bundle.PluginsDir(h.Environ.Get)
	if dir == "" {
		return in, problems
	}
	found, more := (&bundle.Store{Dir: dir}).Adapters()
	for _, f := range found {
		if p := cfg.Plugins.ByID[f.ID]; cfg.Trust.Plugins.RequireSigned && !isSigned(f.Key, cfg.Trust.Plugins) {
			if f.Active || p.SHA256.Text != "" {
				more = append(more, unsigned(f))
			}
			continue
		}
		in.Installed = append(in.Installed, discovery.Installed{Path: f.Program(), Active: f.Active})
	}
	return in, append(problems, more...)
}

// isSigned reports whether the fingerprint of a package's key is that of a trusted key. It ignores an unreadable key,
// which bento plugin add reports.
func isSigned(fingerprint string, trust config.PluginTrust) bool {
	for name, text := range trust.Keys {
		if key, err := seal.ParseKey(name, text.Text); err == nil && fingerprint != "" && key.Fingerprint() == fingerprint {
			return true
		}
	}
	return false
}

func unsigned(f bundle.Found) diagnostics.Diagnostic {
	d := config.Pos{}.Warning(bundle.RuleSignature, "the plugin %s %s is not used: no key of [packages] trusted_keys has signed it, and your own configuration requires that", f.ID, f.Version)
	d.Hint = fmt.Sprintf("add the author's key there, then install the package again: bento plugin remove %[1]s@%[2]s, and bento plugin add %[1]s@%[2]s", f.ID, f.Version)
	return d
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
		Root: cfg.Root, Compiled: h.compiledDir(cfg.Root),
		Source: adapters.Options{Clone: clone.At(cfg.Root)}.Source(), Tools: h.Environ.Strict()}, problems
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

// confine returns the configured sandboxes of plugins, by id. If the kernel cannot provide the whole sandbox, confine
// marks candidates with a required sandbox as not trusted, which is an error, and warns of the others.
func (h *Host) confine(candidates []adapters.Candidate, cfg *config.Workspace, st *state.Dir) (map[string]*host.Sandbox, []diagnostics.Diagnostic) {
	c := confiner{host: h, cfg: cfg, boxes: make(map[string]*host.Sandbox), refused: make(map[config.Text][]string)}
	for i := range candidates {
		mode := cfg.Plugins.SandboxOf(candidates[i].ID)
		if candidates[i].Skip == "" && mode.Text != config.SandboxOff {
			c.candidate(&candidates[i], mode, st)
		}
	}
	return c.boxes, c.problems()
}

// confiner makes the sandboxes of one invocation.
type confiner struct {
	host    *Host
	cfg     *config.Workspace
	lacks   string // the missing features of the sandbox, "" for none
	helper  string
	scratch string // the scratch directory of the host
	boxes   map[string]*host.Sandbox
	partial *config.Text             // the setting of an incomplete sandbox
	refused map[config.Text][]string // ids of plugins that do not start, by setting
}

func (c *confiner) candidate(p *adapters.Candidate, mode config.Text, st *state.Dir) {
	err := c.prepare(st)
	if err != nil {
		c.lacks = err.Error()
	}
	if err != nil || c.lacks != "" && mode.Text == config.SandboxRequired {
		p.Skip, p.SkipReason = adapters.SkipNotTrusted, "it cannot be confined: "+c.lacks
		c.refused[mode] = append(c.refused[mode], p.ID)
		return
	}
	if c.lacks != "" && c.partial == nil {
		c.partial = &mode
	}
	own := c.cfg.Plugins.ByID[p.ID]
	c.boxes[p.ID] = &host.Sandbox{
		Helper: c.helper, Root: c.cfg.Root, Scratch: filepath.Join(c.scratch, p.ID), Read: c.paths(own.Read), Write: c.paths(own.Write),
	}
}

// problems returns the differences from the configured sandboxes, each once.
func (c *confiner) problems() (list []diagnostics.Diagnostic) {
	for mode, ids := range c.refused {
		d := mode.Pos.Error("sandbox_unavailable", "sandbox = %q is not available, so %s not started: %s", mode.Text, pluginsAre(ids), c.lacks)
		d.Hint = `"auto" confines plugins as far as the kernel can`
		list = append(list, d)
	}
	if c.partial != nil {
		d := c.partial.Pos.Warning("sandbox_incomplete", "plugins are confined only in part on this kernel: %s", c.lacks)
		d.Hint = `with "required" they are not started then`
		list = append(list, d)
	}
	return list
}

func pluginsAre(ids []string) string {
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	if len(ids) == 1 {
		return "the plugin " + ids[0] + " is"
	}
	return "the plugins " + strings.Join(ids, ", ") + " are"
}

// prepare determines the common parts of all sandboxes, once.
func (c *confiner) prepare(st *state.Dir) (err error) {
	if c.scratch != "" {
		return nil
	}
	c.lacks = strings.Join(sandbox.Offered().Lacks(), "; ")
	if c.helper, err = os.Executable(); err != nil {
		return err
	}
	c.scratch, err = c.host.scratchIn(st)
	return err
}

// scratchIn returns the directory of all scratch directories of the host. The first call creates it.
func (h *Host) scratchIn(st *state.Dir) (string, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.scratch != "" {
		return h.scratch, nil
	}
	temp, err := st.Temp()
	if err != nil { // the workspace is read-only
		if temp, err = state.TempElsewhere(); err != nil {
			return "", fmt.Errorf("no scratch directory: %w", err)
		}
	}
	h.scratch = temp.Path()
	h.atEnd = append(h.atEnd, temp.Remove)
	return h.scratch, nil
}

// paths returns the configured paths as absolute paths. It leaves out paths below an unknown home directory.
func (c *confiner) paths(texts []config.Text) []string {
	var list []string
	for _, t := range texts {
		if path := c.host.expand(t.Text); path != "" {
			list = append(list, path)
		}
	}
	return list
}
