package workspace

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/discovery"
	"github.com/bentobuild/bento/internal/config"
)

// The variables BENTO_PLUGIN_<ID> name the file of a plugin, and BENTO_PLUGIN_<ID>_IDENTITY the text
// that stands for its digest in keys: for authors who change a plugin while they use it. The id is in
// capitals, with "_" for "-".
const (
	pluginVariable   = "BENTO_PLUGIN_"
	identityVariable = "_IDENTITY"

	// RuleNamed is the rule of what such a variable changes.
	RuleNamed = "plugin_named"
)

// variableOf returns the variable that names a plugin.
func variableOf(id string) string {
	return pluginVariable + strings.ToUpper(strings.ReplaceAll(id, "-", "_"))
}

// named returns the plugins that the environment names, and reports each.
func (h *Host) named() (list []discovery.Named, problems []diagnostics.Diagnostic) {
	for _, kv := range h.Environ {
		name, path, _ := strings.Cut(kv, "=")
		if !strings.HasPrefix(name, pluginVariable) || path == "" {
			continue
		}
		id := idOf(path)
		switch {
		case strings.HasSuffix(name, identityVariable) && !filepath.IsAbs(path):
			problems = append(problems, config.Pos{}.Warning(RuleNamed, "$%s is %q: edits of that plugin change no keys", name, path))
		case !filepath.IsAbs(path):
			problems = append(problems, config.Pos{}.Error(RuleNamed, "$%s is %q, expected the absolute path of a plugin", name, path))
		case id == "" || variableOf(id) != name:
			d := config.Pos{}.Error(RuleNamed, "$%s is %q, whose name has another id", name, path)
			d.Hint = "expected a file named " + discovery.PluginPrefix + strings.ToLower(strings.TrimPrefix(name, pluginVariable))
			problems = append(problems, d)
		default:
			if _, err := os.Stat(path); err != nil {
				problems = append(problems, config.Pos{}.Error(RuleNamed, "$%s: %v", name, err))
				continue
			}
			list = append(list, discovery.Named{Variable: name, Path: path})
			problems = append(problems, config.Pos{}.Warning(RuleNamed, "the plugin %s is %s, which $%s names", id, path, name))
		}
	}
	return list, problems
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
func (h *Host) identities(candidates []adapters.Candidate) map[string]string {
	var by map[string]string
	for _, c := range candidates {
		if text := h.Environ.Get(variableOf(c.ID) + identityVariable); text != "" {
			if by == nil {
				by = make(map[string]string)
			}
			by[c.ID] = fmt.Sprintf("announced %q", text)
		}
	}
	return by
}
