package kit

import (
	"fmt"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/discovery"
	"github.com/bentobuild/bento/internal/config"
	"github.com/bentobuild/bento/plugin/bundle"
	"github.com/bentobuild/bento/plugin/bundle/seal"
)

// installed returns the plugins of installed packages that the user's own configuration allows.
func (k *kit) installed(cfg *config.Workspace) (list []discovery.Installed, problems []diagnostics.Diagnostic) {
	dir := packagesDir(k.host, "plugins")
	if dir == "" {
		return nil, nil
	}
	found, problems := (&bundle.Store{Dir: dir}).Adapters()
	for _, f := range found {
		if cfg.Trust.Plugins.RequireSigned && !isSigned(f.Key, cfg.Trust.Plugins) {
			if f.Active || cfg.Plugins.ByID[f.ID].SHA256.Text != "" {
				problems = append(problems, unsigned(f))
			}
			continue
		}
		list = append(list, discovery.Installed{Path: f.Program(), Active: f.Active})
	}
	return list, problems
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
	return diagnostics.Pos{}.Warning(bundle.RuleSignature, "the plugin %s %s is not used: no key of [packages] trusted_keys has signed it, and your own configuration requires that", f.ID, f.Version).
		WithHint(fmt.Sprintf("add the author's key there, then install the package again: bento plugin remove %[1]s@%[2]s, and bento plugin add %[1]s@%[2]s", f.ID, f.Version))
}
