package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/config"
	"github.com/bentobuild/bento/internal/report"
	"github.com/bentobuild/bento/plugin/bundle"
	"github.com/bentobuild/bento/plugin/bundle/manifest"
	"github.com/bentobuild/bento/plugin/bundle/registry"
)

// addedTools is the document of `bento tool add`.
type addedTools struct {
	Schema string      `json:"schema"`
	Tools  []addedTool `json:"tools"` // the named one first, then its dependencies
}

type addedTool struct {
	ID        string `json:"id"`
	Version   string `json:"version"`
	Kind      string `json:"kind"` // "module" or "process"
	Path      string `json:"path"`
	Digest    string `json:"digest"`
	Source    string `json:"source"`
	Signature string `json:"signature,omitempty"` // of a module: "valid", "unsigned" or "unknown_key"
	Already   bool   `json:"already"`             // it was installed
}

func newToolAdd(s *session) *cobra.Command {
	a := &toolAdder{session: s}
	cmd := &cobra.Command{
		Use: "add PATH|NAME[@VERSION]", Short: "Install the package of a tool",
		Long: "Install the package of a tool below $XDG_DATA_HOME/bento/tools: a directory, a tar or a zip\n" +
			"with the manifest of a WebAssembly module (manifest.json) or of a program\n" +
			"(rterm-plugin.json). --from names a path, a URL or a git repository; --index the index of a\n" +
			"registry. bento checks names, sizes, digest and signature before it writes anything. No\n" +
			"other command fetches packages.",
		Example: "  bento tool add ./acme-fmt-1.2.0.tar\n  bento tool add acme-fmt@1.2 --from https://example.com/acme-fmt-1.2.0.tar\n" +
			"  bento tool add acme-fmt --from git+https://example.com/acme-fmt.git\n  bento tool add acme-fmt@1.2 --index https://example.com/index.json",
		Args: exactly(1, "bento tool add requires one package"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.run(cmd.Context(), args[0]) },
	}
	cmd.Flags().StringVar(&a.from, "from", "", "the `SOURCE` of the package: a path, a file, http or https URL, or git+URL")
	cmd.Flags().StringVar(&a.index, "index", "", "the `FILE` or URL of a registry's index that has the package")
	return cmd
}

// toolAdder is one `bento tool add`.
type toolAdder struct {
	*session
	from, index string
	store       *bundle.Store
	fetcher     *registry.Fetcher
	trust       config.Trust
	done        []addedTool
}

func (a *toolAdder) run(ctx context.Context, name string) error {
	if a.from != "" && a.index != "" {
		return usageError("--from and --index both name the source of the package", "leave out one of them")
	}
	var err error
	if a.store, a.trust, err = a.toolStore(); err != nil {
		return err
	}
	root, _, _ := a.root() // "" outside of a workspace
	a.fetcher = &registry.Fetcher{Environ: a.environ, Root: root}
	switch {
	case a.index != "":
		err = a.indexed(ctx, name)
	case a.from != "":
		err = a.named(ctx, name)
	default:
		err = a.local(ctx, name)
	}
	if err != nil {
		return err
	}
	a.warnOfMissing()
	if a.flags.json {
		return report.Write(a.out, addedTools{report.Schema("tool.add"), a.done})
	}
	for _, t := range a.done {
		state := "installed"
		if t.Already {
			state = "already installed"
		}
		fmt.Fprintf(a.out, "%s %s: %s at %s\n", t.ID, t.Version, state, t.Path)
	}
	return nil
}

// toolStore returns the store of installed packages, and the settings for signatures of packages.
func (s *session) toolStore() (*bundle.Store, config.Trust, error) {
	return s.openStore(bundle.Store{Dir: bundle.DataDir(s.environ.Get)}, "tool")
}

// openStore completes a store. noun is the word for an entry of it in messages.
func (s *session) openStore(store bundle.Store, noun string) (*bundle.Store, config.Trust, error) {
	if store.Dir == "" {
		return nil, config.Trust{}, fmt.Errorf("neither XDG_DATA_HOME nor HOME says where %ss are installed", noun)
	}
	own, problems := config.LoadOwn(s.host().OwnConfig())
	if err := diagnostics.AsError(problems); err != nil {
		return nil, config.Trust{}, err // the file may require signatures
	}
	store.Waiting = func(lock string) {
		s.warn("waiting", "another bento installs or removes a "+noun+"; waiting for it", "a process has the lock "+lock)
	}
	return &store, own.Trust, nil
}

// local installs the package at a path.
func (a *toolAdder) local(ctx context.Context, path string) error {
	if strings.Contains(path, "://") {
		return usageError(fmt.Sprintf("%q is a URL", path), "write the name of the package, and the URL behind --from")
	}
	p, err := a.fetcher.Package(ctx, path)
	if err != nil {
		return err
	}
	return a.install(ctx, p, path)
}

// named installs the package from --from. Its id and version must match name.
func (a *toolAdder) named(ctx context.Context, name string) error {
	id, want, err := manifest.ParseReference(name)
	if err != nil {
		return usageError(err.Error(), `write the id and a version, such as "acme-fmt@1.2"`)
	}
	p, err := a.fetcher.Package(ctx, a.from)
	if err != nil {
		return err
	}
	if p.ID != id || !want.Accepts(p.Version) {
		return notFound(bundle.RuleConflict, fmt.Sprintf("the package is %s %s, expected %s", p.ID, p.Version, name), "correct the name or --from")
	}
	return a.install(ctx, p, a.from)
}

// indexed installs a package from --index, and then its dependencies that are not installed.
func (a *toolAdder) indexed(ctx context.Context, name string) error {
	data, err := a.fetcher.Bytes(ctx, a.index, manifest.MaxIndex)
	if err != nil {
		return notFound(registry.RuleFetch, fmt.Sprintf("--index %q: %v", a.index, err), "")
	}
	ix, err := manifest.ReadIndex(a.index, data)
	if err != nil {
		return err
	}
	for queue := []string{name}; len(queue) > 0; queue = queue[1:] {
		id, want, err := manifest.ParseReference(queue[0])
		if err != nil {
			return usageError(err.Error(), `write the id and a version, such as "acme-fmt@1.2"`)
		}
		if len(a.done) > 0 && a.installed(queue[0]) {
			continue
		}
		release, err := ix.Choose(id, want)
		if err != nil {
			return err
		}
		p, err := a.fetcher.Release(ctx, a.index, release)
		if err != nil {
			return err
		}
		if err := a.install(ctx, p, a.index); err != nil {
			return err
		}
		if p.Module != nil {
			for _, d := range p.Module.Dependencies {
				queue = append(queue, d.ID+"@"+d.VersionReq)
			}
		}
	}
	return nil
}

// installed reports whether an installed version matches a reference.
func (a *toolAdder) installed(ref string) bool {
	id, want, err := manifest.ParseReference(ref)
	found, _ := bundle.Discover([]bundle.Tier{bundle.Global(a.store.Dir)})
	for _, f := range found {
		if err == nil && f.ID == id && want.Accepts(f.Version) {
			return true
		}
	}
	return false
}

func (a *toolAdder) install(ctx context.Context, p *bundle.Package, source string) error {
	source = registry.Redacted(source)
	added, err := a.store.Add(ctx, p, bundle.AddOptions{Source: source, Keys: a.trust.Keys, RequireSigned: a.trust.RequireSigned})
	if err != nil {
		return bundle.From(source, err)
	}
	if added.Signature == manifest.Untrusted {
		a.warn(bundle.RuleSignature, fmt.Sprintf("%s %s is signed with the key %q, which you do not trust", p.ID, p.Version, p.Module.SigningKeyID),
			"add it to [tools] trusted_keys of your own configuration, if you trust it")
	}
	if p.Module != nil {
		for _, key := range p.Module.Unknown {
			a.warn(manifest.RuleInvalid, fmt.Sprintf("%s %s: the key %q of its manifest is not known and ignored", p.ID, p.Version, key), "")
		}
	}
	a.done = append(a.done, addedTool{
		ID: p.ID, Version: p.Version, Kind: p.Kind, Path: added.Dir, Digest: p.Digest, Source: source, Signature: added.Signature, Already: added.Already,
	})
	return nil
}

// warnOfMissing warns when the new package cannot be used yet.
func (a *toolAdder) warnOfMissing() {
	ref := a.done[0].ID + "@=" + a.done[0].Version
	if _, err := manifest.ParseRequirement("=" + a.done[0].Version); err != nil {
		ref = a.done[0].ID + "@" + a.done[0].Version
	}
	if _, _, err := bundle.Resolve(bundle.Query{Ref: ref, Tiers: []bundle.Tier{bundle.Global(a.store.Dir)}}); err != nil {
		a.warn(bundle.RuleDependency, err.Error(), "")
	}
}
