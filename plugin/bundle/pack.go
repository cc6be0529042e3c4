package bundle

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"slices"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/plugin/bundle/archive"
	"github.com/bentobuild/bento/plugin/bundle/manifest"
)

// PackOptions say how Pack signs the manifest of a module. A nil key signs nothing.
type PackOptions struct {
	KeyName string
	Key     ed25519.PrivateKey
}

// Pack makes the package of a directory, and packs it as a tar. For a module it computes wasm_sha256, and
// includes only the manifest and the module. The same directory gets the same bytes.
func Pack(dir string, o PackOptions) (*Package, error) {
	files, err := archive.ReadDir(dir, archive.Limits{})
	if err != nil {
		return nil, From(dir, diagnostics.Refuse(RulePackage, "", "%v", err))
	}
	p := &Package{files: files}
	if p.file(manifest.ProcessFile) == nil && p.file(manifest.ModuleFile) != nil {
		if err := p.finish(o); err != nil {
			return nil, From(dir, err)
		}
	}
	made, err := PackFiles(dir, p.files)
	if err == nil && made.Module == nil && o.Key != nil {
		err = From(dir, diagnostics.Refuse(RuleSignature, "leave out the key", "the package of a program has no place for a signature"))
	}
	return made, err
}

// PackFiles makes the package of the files of dir, and packs it as a tar.
func PackFiles(dir string, files []archive.File) (*Package, error) {
	made, err := Load(files)
	if err != nil {
		return nil, From(dir, err)
	}
	slices.SortStableFunc(made.files, func(a, b archive.File) int { return order(a.Name) - order(b.Name) })
	var out bytes.Buffer
	if err := archive.WriteTar(&out, made.files); err != nil {
		return nil, err
	}
	if out.Len() > archive.MaxSize {
		return nil, diagnostics.Refuse(RulePackage, "", "the package has %d bytes, expected at most %d", out.Len(), archive.MaxSize)
	}
	made.Packed = out.Bytes()
	return made, nil
}

// order puts the manifest first.
func order(name string) int {
	if name == manifest.ModuleFile || name == manifest.ProcessFile || name == manifest.AdapterFile {
		return 0
	}
	return 1
}

// finish leaves the manifest and the module, sets the digest of the module and signs. It keeps keys
// that it does not know.
func (p *Package) finish(o PackOptions) error {
	file := p.file(manifest.ModuleFile)
	m, err := manifest.ReadModule(manifest.ModuleFile, file.Data)
	if err != nil {
		return err
	}
	wasm := p.file(m.WasmFile)
	if wasm == nil {
		return diagnostics.Refuse(RulePackage, "build the module first", "%q is missing, which %s names as wasm_file", m.WasmFile, manifest.ModuleFile)
	}
	m.WasmSHA256 = sum(wasm.Data)
	var doc map[string]json.RawMessage
	if err := json.Unmarshal(file.Data, &doc); err != nil {
		return err
	}
	delete(doc, "signature")
	delete(doc, "signing_key_id")
	doc["wasm_sha256"] = quoted(m.WasmSHA256)
	if o.Key != nil {
		m.Sign(o.KeyName, o.Key)
		doc["signature"], doc["signing_key_id"] = quoted(m.Signature), quoted(m.SigningKeyID)
	}
	data, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		return err
	}
	p.files = []archive.File{{Name: manifest.ModuleFile, Data: append(data, '\n')}, *wasm}
	return nil
}

func quoted(text string) json.RawMessage {
	data, err := json.Marshal(text)
	if err != nil {
		panic(err) // impossible: it is a string
	}
	return data
}
