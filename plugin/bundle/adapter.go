package bundle

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
	"github.com/bentobuild/bento/plugin/bundle/archive"
	"github.com/bentobuild/bento/plugin/bundle/manifest"
	"github.com/bentobuild/bento/plugin/bundle/seal"
)

// loadAdapter checks the package of an adapter. It has one program. Lock files pin the digest of the
// program, and keys contain it, so no other file may run.
func (p *Package) loadAdapter() error {
	m, err := manifest.ReadAdapter(manifest.AdapterFile, p.file(manifest.AdapterFile).Data)
	if err != nil {
		return err
	}
	p.Kind, p.ID, p.Version, p.Adapter = KindAdapter, m.ID, m.Version, m
	program := p.file(m.Program)
	if program == nil {
		return refused(RulePackage, "", "%q is missing, which %s names as program", m.Program, manifest.AdapterFile)
	}
	for i := range p.files {
		f := &p.files[i]
		if f.Exec = f == program && !strings.HasSuffix(m.Program, ".wasm"); f != program && f.Name != manifest.AdapterFile && !isText(f.Name) {
			return refused(RulePackage, "make the adapter one file, since its digest is what bento.plugins.lock pins; bento plugin publish makes such a package",
				"entry %.200q: expected only %s, %q, and files such as LICENSE and README.md", f.Name, manifest.AdapterFile, m.Program)
		}
	}
	return nil
}

// isText reports whether a file of a package is for people.
func isText(name string) bool {
	word, _, _ := strings.Cut(strings.ToUpper(name), ".")
	switch word {
	case "LICENSE", "LICENCE", "COPYING", "NOTICE", "README", "CHANGELOG", "AUTHORS":
		return !strings.Contains(name, "/")
	}
	return false
}

// SHA256 returns the digest of an adapter's program, in hexadecimal.
func (p *Package) SHA256() string { return sum(p.file(p.Adapter.Program).Data) }

// sealed checks the signatures of an adapter's package.
func (p *Package) sealed(o AddOptions) (result, signer string, err error) {
	const required = ", and one by a trusted key is required"
	name := p.ID + " " + p.Version
	r, signer := seal.Check(p.packed, p.signatures, o.Seals)
	switch {
	case r == seal.Forged:
		return "", "", refused(RuleSignature, "get the package again from its author", "%s: its signature is not valid: %s", name, signer)
	case r == seal.None && o.RequireSigned:
		return "", "", refused(RuleSignature, "ask the author for the "+seal.Minisign+" or "+seal.Cosign+" file beside the package", "%s has no signature"+required, name)
	case r == seal.Untrusted && o.RequireSigned:
		return "", "", refused(RuleSignature, "add the author's public key to [packages] trusted_keys of your own configuration, if you trust it, or name it with --key",
			"%s is signed with the key %s, which you do not trust"+required, name, signer)
	}
	if i := slices.IndexFunc(o.Seals, func(k seal.Key) bool { return k.Name == signer }); r == seal.Valid && i >= 0 {
		p.signedBy = o.Seals[i].Fingerprint()
	}
	return map[seal.Result]string{seal.None: manifest.Unsigned, seal.Untrusted: manifest.Untrusted, seal.Valid: manifest.Signed}[r], signer, nil
}

// Plugin reads the package of the adapter id whose version fulfils a requirement: from a directory that
// is one, a directory of archives, an archive (a path, or a URL with file, http or https), or a
// repository in an OCI registry (oci://…). It reads the signatures beside it, too.
func (f *Fetcher) Plugin(ctx context.Context, source, id string, want manifest.Requirement) (*Package, error) {
	p, err := f.plugin(ctx, source, id, want)
	if err != nil {
		return nil, err
	}
	switch {
	case p.Kind != KindAdapter:
		return nil, From(Redacted(source), (&Store{Plugins: true}).checkKind(p))
	case p.Adapter.Compatible() != nil:
		return nil, From(Redacted(source), p.Adapter.Compatible())
	case p.ID != id || !want.Accepts(p.Version):
		return nil, refused(RuleConflict, "correct the name or --from", "%s: it is %s %s, expected %s", Redacted(source), p.ID, p.Version, nameOf(id, want))
	}
	return p, nil
}

func (f *Fetcher) plugin(ctx context.Context, source, id string, want manifest.Requirement) (*Package, error) {
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
func unpacked(source string, data []byte, signatures []seal.Signature) (*Package, error) {
	files, err := archive.Read(data, archive.Limits{})
	p, err := loaded(source, files, err)
	if err != nil {
		return nil, err
	}
	p.packed, p.signatures = data, signatures
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
	return fmt.Errorf("no version for %s fulfils %q, found %s", manifest.Platform(), nameOf(id, want), diagnostics.Few(slices.SortedFunc(slices.Values(tags), func(a, b string) int { return manifest.Compare(b, a) })))
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
