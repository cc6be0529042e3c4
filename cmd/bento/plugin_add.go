package main

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/config"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/report"
	"github.com/bentobuild/bento/internal/state"
	"github.com/bentobuild/bento/plugin/bundle"
	"github.com/bentobuild/bento/plugin/bundle/manifest"
	"github.com/bentobuild/bento/plugin/bundle/registry"
	"github.com/bentobuild/bento/plugin/bundle/seal"
	"github.com/bentobuild/bento/plugin/host"
)

// addedPlugins is the document of `bento plugin add` and `bento plugin update`.
type addedPlugins struct {
	Schema  string        `json:"schema"`
	Plugins []addedPlugin `json:"plugins"`
}

type addedPlugin struct {
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

func newPluginAdd(s *session) *cobra.Command {
	a := &pluginAdder{session: s}
	cmd := &cobra.Command{
		Use: "add NAME[@VERSION] --from SOURCE", Short: "Install a plugin, and pin its digest in " + config.LockFile,
		Long: "Install a plugin below $XDG_DATA_HOME/bento/plugins, where bento looks for plugins after PATH,\n" +
			"and write its digest to " + config.LockFile + " of the workspace. SOURCE is a directory with packages,\n" +
			"a package (a directory, a tar or a zip), its http or https URL, or oci://HOST/NAME. bento checks\n" +
			"names, sizes, platform and signature before it writes anything. No other command but update\n" +
			"fetches plugins, and neither starts one.",
		Example: "  bento plugin add cmake@1.2 --from ./packages\n  bento plugin add cmake --from https://example.com/cmake.tar --key cmake.pub\n" +
			"  bento plugin add cmake@1.2 --from oci://registry.example.com/plugins/cmake",
		Args: exactly(1, "bento plugin add requires one plugin"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.add(cmd.Context(), args[0]) },
	}
	cmd.Flags().StringVar(&a.from, "from", "", "the `SOURCE` of the package")
	cmd.Flags().StringVar(&a.key, "key", "", "the `FILE` with the only public key that may have signed the package: of minisign, or PEM of cosign")
	cmd.Flags().BoolVar(&a.relock, "relock", false, "pin this digest in place of another one in "+config.LockFile)
	return cmd
}

func newPluginUpdate(s *session) *cobra.Command {
	a := &pluginAdder{session: s}
	cmd := &cobra.Command{
		Use: "update [NAME[@VERSION]...]", Short: "Install newer versions of plugins from where they came",
		Long: "Look for a higher version of each installed plugin, or of those named, where it came from;\n" +
			"install it, and write its digest to " + config.LockFile + ". The older version stays installed.",
		Example: "  bento plugin update\n  bento plugin update cmake@2",
		RunE:    func(cmd *cobra.Command, args []string) error { return a.update(cmd.Context(), args) },
	}
	cmd.Flags().StringVar(&a.key, "key", "", "the `FILE` with the only public key that may have signed the packages: of minisign, or PEM of cosign")
	return cmd
}

// pluginAdder is one `bento plugin add` or `update`.
type pluginAdder struct {
	*session
	from, key string
	relock    bool
	store     *bundle.Store
	fetcher   *registry.Fetcher
	keys      []seal.Key
	require   bool
	done      []addedPlugin
}

func (a *pluginAdder) add(ctx context.Context, name string) error {
	if a.from == "" {
		return usageError("--from is missing", "name a directory, an archive, a URL or oci://HOST/NAME")
	}
	id, want, err := manifest.ParseReference(name)
	if err != nil || !config.ValidPluginID(id) {
		return usageError(fmt.Sprintf("%.200q names no plugin", name), `write the id and a version, such as "cmake@1.2"`)
	}
	if err := a.prepare(); err != nil {
		return err
	}
	if !strings.Contains(a.from, "://") {
		if a.from, err = filepath.Abs(a.from); err != nil {
			return err
		}
	}
	p, err := a.fetcher.Plugin(ctx, a.from, id, want)
	if err != nil {
		return err
	}
	if err := a.checkLock(p); err != nil {
		return err
	}
	if err := a.install(ctx, p, a.from); err != nil {
		return err
	}
	return a.finish()
}

// checkLock returns an error for a plugin whose digest differs from the lock file. If plugin add changed
// the pinned digest, the lock would protect nothing.
func (a *pluginAdder) checkLock(p *bundle.Package) error {
	if a.fetcher.Root == "" || a.relock {
		return nil
	}
	locked, problems := config.LoadLock(a.fetcher.Root)
	if err := diagnostics.AsError(problems); err != nil {
		return err
	}
	pin, got := locked.Plugins[p.ID], p.SHA256()
	if pin.Text == "" || pin.Text == got {
		return nil
	}
	return notFound(bundle.RuleDigest, fmt.Sprintf("%s %s: its sha256 is %s, expected %s at %s", p.ID, p.Version, got, pin.Text, pin.Pos),
		"add the version that the workspace uses, or to pin this one: --relock")
}

// prepare opens the store, and reads the keys whose packages the user accepts.
func (a *pluginAdder) prepare() (err error) {
	var trust config.PluginTrust
	if a.store, trust, err = a.pluginStore(); err != nil {
		return err
	}
	root, _, _ := a.root() // "" outside of a workspace
	a.fetcher = &registry.Fetcher{Environ: a.environ, Root: root}
	if a.key != "" {
		data, err := a.fetcher.Bytes(context.Background(), a.key, seal.MaxSize)
		if err != nil {
			return usageError("--key: "+err.Error(), "")
		}
		key, err := seal.ParseKey(a.key, string(data))
		if err != nil {
			return usageError("--key: "+err.Error(), "")
		}
		a.keys, a.require = []seal.Key{key}, true
		return nil
	}
	a.require = trust.RequireSigned
	var problems []diagnostics.Diagnostic
	for _, name := range slices.Sorted(maps.Keys(trust.Keys)) {
		key, err := seal.ParseKey(name, trust.Keys[name].Text)
		if err != nil {
			problems = append(problems, trust.Keys[name].Pos.Error(diagnostics.RuleInvalid, "packages.trusted_keys: %v", err))
		}
		a.keys = append(a.keys, key)
	}
	return diagnostics.AsError(problems)
}

// pluginStore returns the store of installed plugins, and the settings for signatures of packages.
func (s *session) pluginStore() (*bundle.Store, config.PluginTrust, error) {
	store, trust, err := s.openStore(bundle.Store{Dir: bundle.PluginsDir(s.environ.Get), Plugins: true}, "plugin")
	return store, trust.Plugins, err
}

func (a *pluginAdder) install(ctx context.Context, p *bundle.Package, source string) error {
	source = registry.Redacted(source)
	added, err := a.store.Add(ctx, p, bundle.AddOptions{Source: source, Seals: a.keys, RequireSigned: a.require})
	if err != nil {
		return bundle.From(source, err)
	}
	if added.Signature == manifest.Untrusted {
		a.warn(bundle.RuleSignature, fmt.Sprintf("%s %s is signed with the key %s, which you do not trust", p.ID, p.Version, added.Signer),
			"name the author's public key with --key, or in [packages] trusted_keys of your own configuration")
	}
	for _, key := range p.Adapter.Unknown {
		a.warn(manifest.RuleInvalid, fmt.Sprintf("%s %s: the key %q of its manifest is not known and ignored", p.ID, p.Version, key), "")
	}
	a.done = append(a.done, addedPlugin{
		ID: p.ID, Version: p.Version, Path: filepath.Join(added.Dir, p.Adapter.Program), SHA256: p.SHA256(), Digest: p.Digest,
		Source: source, Signature: added.Signature, Signer: added.Signer, Already: added.Already,
	})
	return nil
}

// finish pins the digests, then reports what was installed.
func (a *pluginAdder) finish() error {
	if err := a.lockAdded(); err != nil {
		return err
	}
	if a.flags.json {
		return report.Write(a.out, addedPlugins{report.Schema("plugin.add"), append([]addedPlugin{}, a.done...)})
	}
	for _, p := range a.done {
		text := "installed"
		switch {
		case p.Already && p.From != "":
			text = "up to date"
		case p.Already:
			text = "already installed"
		case p.From != "":
			text = "installed in place of " + p.From
		}
		if p.Locked {
			text += ", pinned in " + config.LockFile
		}
		signed := map[string]string{manifest.Signed: ", signed with the key " + p.Signer, manifest.Unsigned: ", not signed"}[p.Signature]
		fmt.Fprintf(a.out, "%s %s: %s%s\n  %s\n", p.ID, p.Version, text, signed, p.Path)
	}
	return nil
}

// lockAdded writes the digests of the installed plugins to the lock file of the workspace. It does nothing
// outside of a workspace.
func (a *pluginAdder) lockAdded() error {
	root := a.fetcher.Root
	if root == "" || len(a.done) == 0 {
		return nil
	}
	locked, problems := config.LoadLock(root)
	if err := diagnostics.AsError(problems); err != nil {
		return err
	}
	doc := lockedPlugins{SHA256: sumsLocked(locked.Plugins), Tools: sumsLocked(locked.Tools)}
	for i := range a.done {
		doc.SHA256[a.done[i].ID], a.done[i].Locked = a.done[i].SHA256, true
	}
	if maps.Equal(doc.SHA256, sumsLocked(locked.Plugins)) {
		return nil
	}
	if err := state.WriteFile(filepath.Join(root, config.LockFile), lockText(doc), 0o644); err != nil {
		return fmt.Errorf("installed, but not pinned: %w", err)
	}
	cfg, _ := config.Load(root, a.host().OwnConfig())
	for _, p := range a.done {
		if pin := cfg.Plugins.ByID[p.ID].SHA256; pin.Text != "" && pin.Text != p.SHA256 {
			a.warn("plugin_file", fmt.Sprintf("%s pins the plugin %s to another digest than that of %s", pin.Pos, p.ID, p.Version), "remove the sha256 there, or install the version that has it")
		}
	}
	return nil
}

func sumsLocked(pins map[string]dish.Text) map[string]string {
	sums := make(map[string]string, len(pins))
	for id, pin := range pins {
		sums[id] = pin.Text
	}
	return sums
}

// update installs higher versions of the named plugins, or of all.
func (a *pluginAdder) update(ctx context.Context, names []string) error {
	if err := a.prepare(); err != nil {
		return err
	}
	found, problems := a.store.Adapters()
	report.WriteProblems(a.err, a.style, problems)
	if len(names) == 0 {
		for _, f := range found {
			if f.Active {
				names = append(names, f.ID)
			}
		}
	}
	for _, name := range names {
		id, want, err := manifest.ParseReference(name)
		if err != nil {
			return usageError(err.Error(), `write the id and a version, such as "cmake@1.2"`)
		}
		i := slices.IndexFunc(found, func(f bundle.Found) bool { return f.ID == id && f.Active })
		if i < 0 {
			return notFound(bundle.RuleNotFound, fmt.Sprintf("the plugin %s is not installed", id), "install it with: bento plugin add "+id+" --from SOURCE")
		}
		if err := a.updateOne(ctx, found[i], want); err != nil {
			return err
		}
	}
	return a.finish()
}

func (a *pluginAdder) updateOne(ctx context.Context, f bundle.Found, want manifest.Requirement) error {
	p, err := a.fetcher.Plugin(ctx, f.Source, f.ID, want)
	if err != nil {
		return err
	}
	if c := manifest.Compare(p.Version, f.Version); c < 0 || c == 0 && p.Digest == f.Digest {
		a.done = append(a.done, addedPlugin{
			ID: f.ID, Version: f.Version, Path: f.Program(), SHA256: (*host.Digests)(nil).Executable(f.Program()), Digest: f.Digest,
			Source: f.Source, From: f.Version, Already: true,
		})
		return nil
	}
	if err := a.install(ctx, p, f.Source); err != nil {
		return err
	}
	a.done[len(a.done)-1].From = f.Version
	return nil
}

func newPluginRemove(s *session) *cobra.Command {
	return &cobra.Command{
		Use: "remove NAME[@VERSION]", Example: "  bento plugin remove cmake\n  bento plugin remove cmake@1.2.0",
		Short: "Remove an installed plugin, or one version of it",
		Long:  "Remove all versions of an installed plugin, or one. " + config.LockFile + " keeps its digest.",
		Args:  exactly(1, "bento plugin remove requires one plugin"),
		RunE: func(cmd *cobra.Command, args []string) error {
			store, _, err := s.pluginStore()
			if err != nil {
				return err
			}
			return s.removePackage(cmd.Context(), "plugin.remove", store, args[0])
		},
	}
}
