package registry

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/plugin/bundle"
	"github.com/bentobuild/bento/plugin/bundle/archive"
	"github.com/bentobuild/bento/plugin/bundle/manifest"
	"github.com/bentobuild/bento/plugin/bundle/seal"
)

// Plugin reads the package of the adapter id in a version that fulfils a requirement. The source is an unpacked
// package, a directory of archives, an archive (a path, or a URL with file, http or https), or a repository in an OCI
// registry (oci://…). It reads the signatures beside it, too.
func (f *Fetcher) Plugin(ctx context.Context, source, id string, want manifest.Requirement) (*bundle.Package, error) {
	p, err := f.plugin(ctx, source, id, want)
	if err != nil {
		return nil, err
	}
	switch {
	case p.Kind != bundle.KindAdapter:
		return nil, bundle.From(Redacted(source), (&bundle.Store{Plugins: true}).Accepts(p))
	case p.Adapter.Compatible() != nil:
		return nil, bundle.From(Redacted(source), p.Adapter.Compatible())
	case p.ID != id || !want.Accepts(p.Version):
		return nil, diagnostics.Refuse(bundle.RuleConflict, "correct the name or --from", "%s: it is %s %s, expected %s", Redacted(source), p.ID, p.Version, want.Of(id))
	}
	return p, nil
}

func (f *Fetcher) plugin(ctx context.Context, source, id string, want manifest.Requirement) (*bundle.Package, error) {
	if ref, ok := strings.CutPrefix(source, "oci://"); ok {
		return f.fromRegistry(ctx, ref, id, want)
	}
	dir := strings.TrimPrefix(source, "file://")
	if fi, err := os.Stat(dir); err == nil && fi.IsDir() {
		if _, err := os.Lstat(filepath.Join(dir, manifest.AdapterFile)); err == nil {
			files, err := archive.ReadDir(dir, archive.Limits{})
			return loaded(source, files, err)
		}
		if source, err = chooseFile(dir, id, want); err != nil {
			return nil, fetchError(dir, err)
		}
	}
	data, err := f.Bytes(ctx, source, archive.MaxSize)
	if err != nil {
		return nil, fetchError(Redacted(source), err)
	}
	signatures, err := f.signaturesOf(ctx, source)
	if err != nil {
		return nil, fetchError(Redacted(source), err)
	}
	return unpacked(source, data, signatures)
}

// unpacked returns the package in an archive.
func unpacked(source string, data []byte, signatures []seal.Signature) (*bundle.Package, error) {
	files, err := archive.Read(data, archive.Limits{})
	p, err := loaded(source, files, err)
	if err != nil {
		return nil, err
	}
	p.Packed, p.Signatures = data, signatures
	return p, nil
}

// chooseFile returns the path of the best archive in a directory: ID-VERSION[-OS-ARCH].tar or .zip.
func chooseFile(dir, id string, want manifest.Requirement) (string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	var tags []string
	byTag := make(map[string]string)
	for _, e := range entries {
		tag, ok := strings.CutPrefix(e.Name(), id+"-")
		ext := filepath.Ext(tag)
		if tag = strings.TrimSuffix(tag, ext); ok && (ext == ".tar" || ext == ".zip") && byTag[tag] == "" {
			tags, byTag[tag] = append(tags, tag), e.Name()
		}
	}
	tag := want.Choose(tags)
	if tag == "" {
		return "", noVersion(id, want, tags)
	}
	return filepath.Join(dir, byTag[tag]), nil
}

func noVersion(id string, want manifest.Requirement, tags []string) error {
	if len(tags) == 0 {
		return fmt.Errorf("it has neither %s nor a package %s-VERSION.tar", manifest.AdapterFile, id)
	}
	return fmt.Errorf("no version for %s fulfils %q, found %s", manifest.Platform(), want.Of(id), diagnostics.Few(slices.SortedFunc(slices.Values(tags), func(a, b string) int { return manifest.Compare(b, a) })))
}

// signaturesOf reads the signatures beside an archive.
func (f *Fetcher) signaturesOf(ctx context.Context, source string) (list []seal.Signature, err error) {
	address, query, _ := strings.Cut(source, "?")
	for _, suffix := range []string{seal.Minisign, seal.Cosign} {
		beside := address + suffix
		if query != "" {
			beside += "?" + query
		}
		data, err := f.Bytes(ctx, beside, seal.MaxSize)
		var status *statusError
		missing := errors.Is(err, fs.ErrNotExist) || errors.As(err, &status) && (status.code == http.StatusNotFound || status.code == http.StatusGone)
		if err == nil {
			list = append(list, seal.Signature{Suffix: suffix, Data: data})
		} else if !missing {
			return nil, fmt.Errorf("its signature %s: %w", suffix, err)
		}
	}
	return list, nil
}

// statusError is the answer of a server that has no such file.
type statusError struct {
	code int
	text string
}

func (e *statusError) Error() string { return "the server answered " + e.text }
