package kit

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/config"
	"github.com/bentobuild/bento/plugin/bundle"
	"github.com/bentobuild/bento/plugin/bundle/manifest"
	"github.com/bentobuild/bento/plugin/bundle/registry"
	"github.com/bentobuild/bento/plugin/host"
)

// AddedPlugin is a plugin that was installed, or was there.
type AddedPlugin struct {
	ID        string `json:"id"`
	Version   string `json:"version"`
	Path      string `json:"path"` // of the executable or module
	SHA256    string `json:"sha256"`
	Digest    string `json:"digest"` // of the package
	Source    string `json:"source"`
	Signature string `json:"signature"`        // "valid", "unsigned" or "unknown_key"
	Signer    string `json:"signer,omitempty"` // the name of the key, or the id of an unknown one
	From      string `json:"from,omitempty"`   // the active version before
	Already   bool   `json:"already"`          // it was installed
	Locked    bool   `json:"locked"`           // bento.plugins.lock has its digest
}

// AddPlugin installs the plugin of a name such as "cmake@1.2" from a source, and pins its digest in the lock file of
// the workspace. It replaces another digest there only if relock is set.
func (p *Packages) AddPlugin(ctx context.Context, name, source string, relock bool) ([]AddedPlugin, error) {
	id, want, err := manifest.ParseReference(name)
	if err != nil || !config.ValidPluginID(id) {
		return nil, misnamed(fmt.Errorf("%.200q names no plugin", name), "cmake@1.2")
	}
	o, err := p.pluginOptions()
	if err != nil {
		return nil, err
	}
	if !strings.Contains(source, "://") {
		if source, err = filepath.Abs(source); err != nil {
			return nil, err
		}
	}
	found, err := p.fetch.Plugin(ctx, source, id, want)
	if err == nil && !relock {
		err = p.checkLock(found)
	}
	if err != nil {
		return nil, err
	}
	added, err := p.addPlugin(ctx, found, source, o)
	if err != nil {
		return nil, err
	}
	return p.locked([]AddedPlugin{added})
}

// checkLock returns an error for a plugin whose digest differs from the lock file. If AddPlugin changed
// the pinned digest, the lock would protect nothing.
func (p *Packages) checkLock(found *bundle.Package) error {
	if p.fetch.Root == "" {
		return nil
	}
	locked, problems := config.LoadLock(p.fetch.Root)
	if err := diagnostics.AsError(problems); err != nil {
		return err
	}
	pin, got := locked.Plugins[found.ID], found.SHA256()
	if pin.Text == "" || pin.Text == got {
		return nil
	}
	return diagnostics.Refuse(bundle.RuleDigest, "add the version that the workspace uses, or to pin this one: --relock",
		"%s %s: its sha256 is %s, expected %s at %s", found.ID, found.Version, got, pin.Text, pin.Pos)
}

func (p *Packages) addPlugin(ctx context.Context, found *bundle.Package, source string, o bundle.AddOptions) (AddedPlugin, error) {
	o.Source = registry.Redacted(source)
	added, err := p.Add(ctx, found, o)
	if err != nil {
		return AddedPlugin{}, bundle.From(o.Source, err)
	}
	if added.Signature == manifest.Untrusted {
		p.warn(bundle.RuleSignature, "name the author's public key with --key, or in [packages] trusted_keys of your own configuration",
			"%s %s is signed with the key %s, which you do not trust", found.ID, found.Version, added.Signer)
	}
	p.unknownKeys(found, found.Adapter.Unknown)
	return AddedPlugin{
		ID: found.ID, Version: found.Version, Path: filepath.Join(added.Dir, found.Adapter.Program), SHA256: found.SHA256(), Digest: found.Digest,
		Source: o.Source, Signature: added.Signature, Signer: added.Signer, Already: added.Already,
	}, nil
}

// UpdatePlugins installs higher versions of the named plugins, or of all, and pins their digests.
func (p *Packages) UpdatePlugins(ctx context.Context, names []string) ([]AddedPlugin, error) {
	o, err := p.pluginOptions()
	if err != nil {
		return nil, err
	}
	found, problems := p.Adapters()
	p.report(problems)
	if len(names) == 0 {
		for _, f := range found {
			if f.Active {
				names = append(names, f.ID)
			}
		}
	}
	done := []AddedPlugin{}
	for _, name := range names {
		id, want, err := manifest.ParseReference(name)
		if err != nil {
			return nil, misnamed(err, "cmake@1.2")
		}
		i := slices.IndexFunc(found, func(f bundle.Found) bool { return f.ID == id && f.Active })
		if i < 0 {
			return nil, diagnostics.Refuse(bundle.RuleNotFound, "install it with: bento plugin add "+id+" --from SOURCE", "the plugin %s is not installed", id)
		}
		added, err := p.updatePlugin(ctx, found[i], want, o)
		if err != nil {
			return nil, err
		}
		done = append(done, added)
	}
	return p.locked(done)
}

func (p *Packages) updatePlugin(ctx context.Context, f bundle.Found, want manifest.Requirement, o bundle.AddOptions) (AddedPlugin, error) {
	newest, err := p.fetch.Plugin(ctx, f.Source, f.ID, want)
	if err != nil {
		return AddedPlugin{}, err
	}
	if c := manifest.Compare(newest.Version, f.Version); c < 0 || c == 0 && newest.Digest == f.Digest {
		return AddedPlugin{
			ID: f.ID, Version: f.Version, Path: f.Program(), SHA256: (*host.Digests)(nil).Executable(f.Program()), Digest: f.Digest,
			Source: f.Source, From: f.Version, Already: true,
		}, nil
	}
	added, err := p.addPlugin(ctx, newest, f.Source, o)
	added.From = f.Version
	return added, err
}

// locked writes the digests of installed plugins to the lock file of the workspace. It does nothing outside of one.
func (p *Packages) locked(done []AddedPlugin) ([]AddedPlugin, error) {
	root := p.fetch.Root
	if root == "" || len(done) == 0 {
		return done, nil
	}
	locked, problems := config.LoadLock(root)
	if err := diagnostics.AsError(problems); err != nil {
		return nil, err
	}
	l := Lock{Plugins: sums(locked.Plugins), Tools: sums(locked.Tools)}
	for i := range done {
		l.Plugins[done[i].ID], done[i].Locked = done[i].SHA256, true
	}
	if maps.Equal(l.Plugins, sums(locked.Plugins)) {
		return done, nil
	}
	if err := l.write(root); err != nil {
		return nil, fmt.Errorf("installed, but not pinned: %w", err)
	}
	cfg, _ := config.Load(root, p.host.OwnConfig())
	for _, a := range done {
		if pin := cfg.Plugins.ByID[a.ID].SHA256; pin.Text != "" && pin.Text != a.SHA256 {
			p.warn("plugin_file", "remove the sha256 there, or install the version that has it", "%s pins the plugin %s to another digest than that of %s", pin.Pos, a.ID, a.Version)
		}
	}
	return done, nil
}
