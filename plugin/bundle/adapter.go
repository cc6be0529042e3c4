package bundle

import (
	"slices"
	"strings"

	"github.com/bentobuild/bento/diagnostics"
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
		return diagnostics.Refuse(RulePackage, "", "%q is missing, which %s names as program", m.Program, manifest.AdapterFile)
	}
	for i := range p.files {
		f := &p.files[i]
		if f.Exec = f == program && !strings.HasSuffix(m.Program, ".wasm"); f != program && f.Name != manifest.AdapterFile && !isText(f.Name) {
			return diagnostics.Refuse(RulePackage, "make the adapter one file, since its digest is what bento.plugins.lock pins; bento plugin publish makes such a package",
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
	r, signer := seal.Check(p.Packed, p.Signatures, o.Seals)
	switch {
	case r == seal.Forged:
		return "", "", diagnostics.Refuse(RuleSignature, "get the package again from its author", "%s: its signature is not valid: %s", name, signer)
	case r == seal.None && o.RequireSigned:
		return "", "", diagnostics.Refuse(RuleSignature, "ask the author for the "+seal.Minisign+" or "+seal.Cosign+" file beside the package", "%s has no signature"+required, name)
	case r == seal.Untrusted && o.RequireSigned:
		return "", "", diagnostics.Refuse(RuleSignature, "add the author's public key to [packages] trusted_keys of your own configuration, if you trust it, or name it with --key",
			"%s is signed with the key %s, which you do not trust"+required, name, signer)
	}
	if i := slices.IndexFunc(o.Seals, func(k seal.Key) bool { return k.Name == signer }); r == seal.Valid && i >= 0 {
		p.signedBy = o.Seals[i].Fingerprint()
	}
	return map[seal.Result]string{seal.None: manifest.Unsigned, seal.Untrusted: manifest.Untrusted, seal.Valid: manifest.Signed}[r], signer, nil
}
