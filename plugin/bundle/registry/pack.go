package registry

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/plugin/bundle"
	"github.com/bentobuild/bento/plugin/bundle/archive"
	"github.com/bentobuild/bento/plugin/bundle/manifest"
)

// PackAdapter returns the package of an adapter. source is a directory with its manifest, an archive
// that was packed before, or an executable or module, of which version and platform are. The same
// files make the same bytes.
func (f *Fetcher) PackAdapter(ctx context.Context, source, version, platform string) (*bundle.Package, error) {
	if strings.HasPrefix(filepath.Base(source), "bento-adapter-") {
		return f.packProgram(ctx, source, version, platform)
	}
	if version != "" || platform != "" {
		return nil, diagnostics.Refuse(bundle.RulePackage, "leave out --version and --platform, or name the executable bento-adapter-ID", "%s: its manifest states the version and the platform", source)
	}
	if data, err := f.Bytes(ctx, source, archive.MaxSize); err == nil {
		signatures, err := f.signaturesOf(ctx, source)
		if err != nil {
			return nil, fetchError(source, err)
		}
		return adapterOnly(unpacked(source, data, signatures))
	}
	return adapterOnly(bundle.Pack(source, bundle.PackOptions{}))
}

func adapterOnly(p *bundle.Package, err error) (*bundle.Package, error) {
	if err != nil {
		return nil, err
	}
	if err := (&bundle.Store{Plugins: true}).Accepts(p); err != nil {
		return nil, err
	}
	return p, nil
}

// packProgram returns the package of an executable or a module.
func (f *Fetcher) packProgram(ctx context.Context, source, version, platform string) (*bundle.Package, error) {
	if version == "" {
		return nil, diagnostics.Refuse(bundle.RulePackage, "write it: --version 1.0.0", "%s: the version of the package is missing", source)
	}
	program, err := f.Bytes(ctx, source, archive.MaxSize)
	if err != nil {
		return nil, fetchError(source, err)
	}
	name := strings.TrimSuffix(filepath.Base(source), ".exe")
	m := map[string]any{
		"id": strings.TrimSuffix(strings.TrimPrefix(name, "bento-adapter-"), ".wasm"), "version": version,
		"protocol_version": 1, "program": name,
	}
	if isScript := strings.HasPrefix(string(program), "#!"); platform == "" && !isScript && !strings.HasSuffix(name, ".wasm") {
		platform = manifest.Platform()
	}
	if platform != "" && platform != "any" {
		m["platform"] = platform
	}
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return nil, err
	}
	return adapterOnly(bundle.PackFiles(source, []archive.File{
		{Name: manifest.AdapterFile, Data: append(text, '\n')}, {Name: name, Data: program, Exec: true},
	}))
}
