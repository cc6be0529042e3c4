package kit

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/config"
	"github.com/bentobuild/bento/internal/owndir"
	"github.com/bentobuild/bento/internal/workspace"
	"github.com/bentobuild/bento/plugin/bundle"
	"github.com/bentobuild/bento/plugin/bundle/manifest"
	"github.com/bentobuild/bento/plugin/bundle/registry"
	"github.com/bentobuild/bento/plugin/bundle/seal"
)

// Packages are the installed packages of plugins or of tools, with what the user requires of them.
type Packages struct {
	*bundle.Store
	host   *workspace.Host
	fetch  registry.Fetcher
	trust  config.Trust
	only   []seal.Key // of TrustOnly
	report func([]diagnostics.Diagnostic)
}

// PluginPackages opens the packages of plugins. root is the workspace, "" outside of one. report receives warnings.
func PluginPackages(h *workspace.Host, root string, report func([]diagnostics.Diagnostic)) (*Packages, error) {
	return openPackages(h, root, &bundle.Store{Dir: packagesDir(h, "plugins"), Plugins: true}, report)
}

// ToolPackages opens the packages of tools, as PluginPackages does.
func ToolPackages(h *workspace.Host, root string, report func([]diagnostics.Diagnostic)) (*Packages, error) {
	return openPackages(h, root, &bundle.Store{Dir: packagesDir(h, "tools")}, report)
}

// packagesDir returns the directory of the packages of "tools" or "plugins", "" if the environment names none.
func packagesDir(h *workspace.Host, of string) string {
	return owndir.OfUser(h.Environ.Get, "XDG_DATA_HOME", of)
}

func openPackages(h *workspace.Host, root string, store *bundle.Store, report func([]diagnostics.Diagnostic)) (*Packages, error) {
	noun := "tool"
	if store.Plugins {
		noun = "plugin"
	}
	if store.Dir == "" {
		return nil, fmt.Errorf("neither XDG_DATA_HOME nor HOME says where %ss are installed", noun)
	}
	own, problems := config.LoadOwn(h.OwnConfig())
	if err := diagnostics.AsError(problems); err != nil {
		return nil, err // the file may require signatures
	}
	p := &Packages{Store: store, host: h, fetch: registry.Fetcher{Environ: h.Environ, Root: root}, trust: own.Trust, report: report}
	store.Waiting = func(lock string) {
		p.warn("waiting", "a process has the lock "+lock, "another bento installs or removes a %s; waiting for it", noun)
	}
	return p, nil
}

func (p *Packages) warn(rule, hint, format string, args ...any) {
	p.report([]diagnostics.Diagnostic{diagnostics.Pos{}.Warning(rule, format, args...).WithHint(hint)})
}

// TrustOnly makes the key in a file, or at a URL, the only one that may have signed a plugin.
func (p *Packages) TrustOnly(ctx context.Context, file string) error {
	data, err := p.fetch.Bytes(ctx, file, seal.MaxSize)
	if err != nil {
		return err
	}
	key, err := seal.ParseKey(file, string(data))
	p.only = []seal.Key{key}
	return err
}

// pluginOptions returns the keys whose packages of plugins the user accepts, and whether one must have signed them.
func (p *Packages) pluginOptions() (o bundle.AddOptions, err error) {
	if p.only != nil {
		return bundle.AddOptions{Seals: p.only, RequireSigned: true}, nil
	}
	trust := p.trust.Plugins
	o.RequireSigned = trust.RequireSigned
	var problems []diagnostics.Diagnostic
	for _, name := range slices.Sorted(maps.Keys(trust.Keys)) {
		key, err := seal.ParseKey(name, trust.Keys[name].Text)
		if err != nil {
			problems = append(problems, trust.Keys[name].Pos.Error(diagnostics.RuleInvalid, "packages.trusted_keys: %v", err))
		}
		o.Seals = append(o.Seals, key)
	}
	return o, diagnostics.AsError(problems)
}

// unknownKeys warns of the keys of a manifest that bento ignores.
func (p *Packages) unknownKeys(of *bundle.Package, keys []string) {
	for _, key := range keys {
		p.warn(manifest.RuleInvalid, "", "%s %s: the key %q of its manifest is not known and ignored", of.ID, of.Version, key)
	}
}

// misnamed returns the error of a command line that names no package.
func misnamed(err error, example string) error {
	return diagnostics.Refuse("usage", `write the id and a version, such as "`+example+`"`, "%v", err)
}

// Discard removes an installed package, or only the version after "@". It returns the id and the removed versions.
func (p *Packages) Discard(ctx context.Context, name string) (id string, versions []string, err error) {
	id, version, _ := strings.Cut(name, "@")
	versions, err = p.Remove(ctx, id, version)
	return id, versions, err
}
