package kit

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/bentobuild/bento/internal/state"
	"github.com/bentobuild/bento/internal/workspace"
	"github.com/bentobuild/bento/plugin/bundle"
	"github.com/bentobuild/bento/plugin/bundle/registry"
)

// Pack says what PublishPlugin packs and where the package goes.
type Pack struct {
	Source            string // an executable or module bento-adapter-ID, a directory with its manifest, or an archive
	Version, Platform string // of an executable or module
	To                string // a directory, or oci://HOST/NAME
}

// PublishPlugin packs a plugin and writes the package with its signatures, or pushes it to a registry. It returns the
// package, and its path or reference.
func PublishPlugin(ctx context.Context, h *workspace.Host, o Pack) (p *bundle.Package, to string, err error) {
	f := &registry.Fetcher{Environ: h.Environ}
	if p, err = f.PackAdapter(ctx, o.Source, o.Version, o.Platform); err != nil {
		return nil, "", err
	}
	if ref, ok := strings.CutPrefix(o.To, "oci://"); ok {
		to, err = f.Publish(ctx, ref, p)
	} else {
		to, err = writePackage(p, o.To)
	}
	return p, to, err
}

// writePackage writes the tar of a package and its signatures to a directory.
func writePackage(p *bundle.Package, dir string) (string, error) {
	out := filepath.Join(dir, p.Adapter.PackageName()+".tar")
	if err := state.WriteFile(out, p.Packed, 0o644); err != nil {
		return "", err
	}
	for _, sig := range p.Signatures {
		if err := state.WriteFile(out+sig.Suffix, sig.Data, 0o644); err != nil {
			return "", err
		}
	}
	return out, nil
}
