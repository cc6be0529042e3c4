package workspace

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/discovery"
	"github.com/bentobuild/bento/internal/config"
)

// RuleNamed is the rule of plugins whose file or identity BENTO_PLUGIN_<ID>, BENTO_PLUGIN_<ID>_IDENTITY or the
// user's own configuration sets. These settings are for authors who edit a plugin while they use it.
const RuleNamed = "plugin_named"

// variables is the prefix of the variables of plugins.
const variables = "BENTO_PLUGIN_"

// named returns the plugins that the environment names, then those that the user's own configuration names, and
// reports each. A variable takes precedence over the configuration.
func (h *Host) named(cfg *config.Workspace) (list []discovery.Named, problems []diagnostics.Diagnostic) {
	for _, kv := range h.Environ {
		name, path, _ := strings.Cut(kv, "=")
		if !strings.HasPrefix(name, variables) || path == "" {
			continue
		}
		id := idOf(path)
		switch {
		case strings.HasSuffix(name, config.IdentityVariable) && !filepath.IsAbs(path):
			problems = append(problems, diagnostics.Pos{}.Warning(RuleNamed, "$%s is %q: edits of that plugin change no keys", name, path))
		case !filepath.IsAbs(path):
			problems = append(problems, diagnostics.Pos{}.Error(RuleNamed, "$%s is %q, expected the absolute path of a plugin", name, path))
		case id == "" || config.PluginVariable(id) != name:
			problems = append(problems, diagnostics.Pos{}.Error(RuleNamed, "$%s is %q, whose name has another id", name, path).
				WithHint("expected a file named "+discovery.PluginPrefix+strings.ToLower(strings.TrimPrefix(name, variables))))
		default:
			if _, err := os.Stat(path); err != nil {
				problems = append(problems, diagnostics.Pos{}.Error(RuleNamed, "$%s: %v", name, err))
				continue
			}
			list = append(list, discovery.Named{By: "your environment", Path: path})
			problems = append(problems, diagnostics.Pos{}.Warning(RuleNamed, "the plugin %s is %s, which $%s names", id, path, name))
		}
	}
	own, more := h.namedByFile(cfg)
	return append(list, own...), append(problems, more...)
}

// namedByFile returns the plugins that the user's own configuration names and no variable does, and
// reports each.
func (h *Host) namedByFile(cfg *config.Workspace) (list []discovery.Named, problems []diagnostics.Diagnostic) {
	for _, id := range slices.Sorted(maps.Keys(cfg.Plugins.ByID)) {
		p, name := cfg.Plugins.ByID[id], config.PluginVariable(id)
		if text := p.Identity; text.Text != "" && h.Environ.Get(name+config.IdentityVariable) == "" {
			problems = append(problems, text.Pos.Warning(RuleNamed, "the identity of the plugin %s is %q: its edits change no keys", id, text.Text))
		}
		if p.Path.Text == "" || h.Environ.Get(name) != "" {
			continue
		}
		path := h.expand(p.Path.Text)
		_, err := os.Stat(path)
		switch {
		case path == "":
			problems = append(problems, p.Path.Pos.Error(RuleNamed, "plugins.%s.path %q needs $HOME, which is not set", id, p.Path.Text))
		case idOf(path) != id:
			problems = append(problems, p.Path.Pos.Error(RuleNamed, "plugins.%s.path is %q, whose name has another id", id, path).WithHint("expected a file named "+discovery.PluginPrefix+id))
		case err != nil:
			problems = append(problems, p.Path.Pos.Error(RuleNamed, "plugins.%s.path: %v", id, err))
		default:
			list = append(list, discovery.Named{By: "your own configuration", Path: path})
			problems = append(problems, p.Path.Pos.Warning(RuleNamed, "the plugin %s is %s, which your own configuration names", id, path))
		}
	}
	return list, problems
}

// expand replaces "~" at the start of a path. It returns "" if the home directory is unknown.
func (h *Host) expand(path string) string {
	rest, below := strings.CutPrefix(path, "~")
	if !below {
		return path
	}
	home := h.Environ.Get("HOME")
	if !filepath.IsAbs(home) {
		return ""
	}
	return filepath.Join(home, rest)
}

// idOf returns the id in the name of a plugin's file, or "".
func idOf(path string) string {
	id, ok := strings.CutPrefix(filepath.Base(path), discovery.PluginPrefix)
	if id = strings.TrimSuffix(id, ".wasm"); !ok || !config.ValidPluginID(id) {
		return ""
	}
	return id
}

// identities returns the texts that stand for the digests of candidates, by id.
func (h *Host) identities(candidates []adapters.Candidate, cfg *config.Workspace) map[string]string {
	by := make(map[string]string)
	for _, c := range candidates {
		text := cmp.Or(h.Environ.Get(config.PluginVariable(c.ID)+config.IdentityVariable), cfg.Plugins.ByID[c.ID].Identity.Text)
		if text != "" {
			by[c.ID] = fmt.Sprintf("announced %q", text)
		}
	}
	return by
}
