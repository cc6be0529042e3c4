package kit

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"slices"
	"strings"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/plugin/bundle"
	"github.com/bentobuild/bento/plugin/bundle/manifest"
	"github.com/bentobuild/bento/plugin/bundle/registry"
)

// AddedTool is the package of a tool that was installed, or was there.
type AddedTool struct {
	ID        string `json:"id"`
	Version   string `json:"version"`
	Kind      string `json:"kind"` // "module" or "process"
	Path      string `json:"path"`
	Digest    string `json:"digest"`
	Source    string `json:"source"`
	Signature string `json:"signature,omitempty"` // of a module: "valid", "unsigned" or "unknown_key"
	Already   bool   `json:"already"`             // it was installed
}

// AddTool installs the package at a path, or with from, the one of that source, whose id and version must match name.
func (p *Packages) AddTool(ctx context.Context, name, from string) ([]AddedTool, error) {
	id, want, err := manifest.ParseReference(name)
	switch {
	case from != "" && err != nil:
		return nil, misnamed(err, "acme-fmt@1.2")
	case from == "" && strings.Contains(name, "://"):
		return nil, diagnostics.Refuse("usage", "write the name of the package, and the URL behind --from", "%q is a URL", name)
	}
	source := cmp.Or(from, name)
	found, err := p.fetch.Package(ctx, source)
	if err != nil {
		return nil, err
	}
	if from != "" && (found.ID != id || !want.Accepts(found.Version)) {
		return nil, diagnostics.Refuse(bundle.RuleConflict, "correct the name or --from", "the package is %s %s, expected %s", found.ID, found.Version, name)
	}
	added, err := p.addTool(ctx, found, source)
	if err != nil {
		return nil, err
	}
	p.warnOfMissing(added)
	return []AddedTool{added}, nil
}

// AddIndexed installs a package of the index of a registry, and then its dependencies that are not installed. The
// package is the first of the result.
func (p *Packages) AddIndexed(ctx context.Context, name, index string) (done []AddedTool, err error) {
	data, err := p.fetch.Bytes(ctx, index, manifest.MaxIndex)
	if err != nil {
		return nil, diagnostics.Refuse(registry.RuleFetch, "", "--index %q: %v", index, err)
	}
	ix, err := manifest.ReadIndex(index, data)
	if err != nil {
		return nil, err
	}
	for queue := []string{name}; len(queue) > 0; queue = queue[1:] {
		id, want, err := manifest.ParseReference(queue[0])
		if err != nil {
			return nil, misnamed(err, "acme-fmt@1.2")
		}
		if len(done) > 0 && p.hasTool(id, want) {
			continue
		}
		release, err := ix.Choose(id, want)
		if err != nil {
			return nil, err
		}
		found, err := p.fetch.Release(ctx, index, release)
		if err != nil {
			return nil, err
		}
		added, err := p.addTool(ctx, found, index)
		if err != nil {
			return nil, err
		}
		done = append(done, added)
		if found.Module != nil {
			for _, d := range found.Module.Dependencies {
				queue = append(queue, d.ID+"@"+d.VersionReq)
			}
		}
	}
	p.warnOfMissing(done[0])
	return done, nil
}

// hasTool reports whether an installed version fulfils a requirement.
func (p *Packages) hasTool(id string, want manifest.Requirement) bool {
	found, _ := bundle.Discover([]bundle.Tier{bundle.Global(p.Dir)})
	return slices.ContainsFunc(found, func(f bundle.Found) bool { return f.ID == id && want.Accepts(f.Version) })
}

func (p *Packages) addTool(ctx context.Context, found *bundle.Package, source string) (AddedTool, error) {
	source = registry.Redacted(source)
	added, err := p.Add(ctx, found, bundle.AddOptions{Source: source, Keys: p.trust.Keys, RequireSigned: p.trust.RequireSigned})
	if err != nil {
		return AddedTool{}, bundle.From(source, err)
	}
	if added.Signature == manifest.Untrusted {
		p.warn(bundle.RuleSignature, "add it to [tools] trusted_keys of your own configuration, if you trust it",
			"%s %s is signed with the key %q, which you do not trust", found.ID, found.Version, found.Module.SigningKeyID)
	}
	if found.Module != nil {
		p.unknownKeys(found, found.Module.Unknown)
	}
	return AddedTool{
		ID: found.ID, Version: found.Version, Kind: found.Kind, Path: added.Dir, Digest: found.Digest, Source: source, Signature: added.Signature, Already: added.Already,
	}, nil
}

// warnOfMissing warns when a new package cannot be used yet.
func (p *Packages) warnOfMissing(added AddedTool) {
	ref := added.ID + "@=" + added.Version
	if _, err := manifest.ParseRequirement("=" + added.Version); err != nil {
		ref = added.ID + "@" + added.Version
	}
	if _, _, err := bundle.Resolve(bundle.Query{Ref: ref, Tiers: []bundle.Tier{bundle.Global(p.Dir)}}); err != nil {
		p.warn(bundle.RuleDependency, "", "%v", err)
	}
}

// VerifiedTool is an installed package, compared with its manifest and with what was installed.
type VerifiedTool struct {
	ID        string   `json:"id"`
	Version   string   `json:"version"`
	Kind      string   `json:"kind"`
	Path      string   `json:"path"`
	Digest    string   `json:"digest"`
	Signature string   `json:"signature,omitempty"`
	Active    bool     `json:"active"`
	Enabled   bool     `json:"enabled"`
	OK        bool     `json:"ok"`
	Problems  []string `json:"problems"`
	Notes     []string `json:"notes"`
}

// VerifyTools reads every file of the named packages, or of all. It reports whether all are whole.
func (p *Packages) VerifyTools(names []string) (list []VerifiedTool, whole bool, err error) {
	found, problems := bundle.Discover([]bundle.Tier{bundle.Global(p.Dir)})
	p.report(problems)
	list, whole = []VerifiedTool{}, len(problems) == 0
	seen := make(map[string]bool)
	for _, f := range found {
		if seen[f.ID] = true; len(names) > 0 && !slices.Contains(names, f.ID) {
			continue
		}
		v, err := bundle.Verify(f, p.trust.Keys)
		if err != nil {
			return nil, false, err
		}
		if p.trust.RequireSigned && v.Signature != manifest.Signed {
			v.Problems = append(v.Problems, "your own configuration requires a signature by a trusted key")
		}
		ok := len(v.Problems) == 0
		whole = whole && ok
		list = append(list, VerifiedTool{
			ID: v.ID, Version: v.Version, Kind: v.Kind, Path: v.Dir, Digest: v.Digest, Signature: v.Signature, Active: v.Active, Enabled: v.Enabled,
			OK: ok, Problems: append([]string{}, v.Problems...), Notes: append([]string{}, v.Notes...),
		})
	}
	for _, name := range names {
		if !seen[name] {
			return nil, false, diagnostics.Refuse(bundle.RuleNotFound, "bento tool verify names all packages", "the package %s is not installed, or damaged", name)
		}
	}
	return list, whole, nil
}

// PackTool makes the package of a directory, signed with a key of a name unless that is nil.
func PackTool(dir, keyName string, key ed25519.PrivateKey) (*bundle.Package, error) {
	return bundle.Pack(dir, bundle.PackOptions{KeyName: keyName, Key: key})
}
