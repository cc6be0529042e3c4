package bundle

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"slices"

	"github.com/bentobuild/bento/plugin/bundle/archive"
	"github.com/bentobuild/bento/plugin/bundle/manifest"
)

// PackOptions say how Pack signs the manifest of a module. A nil key signs nothing.
type PackOptions struct {
	KeyName string
	Key     ed25519.PrivateKey
}

// Pack makes the package of a directory and returns it as a tar. For a module it computes wasm_sha256, and
// includes only the manifest and the module. The same directory gets the same bytes.
func Pack(dir string, o PackOptions) (*Package, []byte, error) {
	files, err := archive.ReadDir(dir, archive.Limits{})
	if err != nil {
		return nil, nil, From(dir, refused(RulePackage, "", "%v", err))
	}
	p := &Package{files: files}
	if p.file(manifest.ProcessFile) == nil && p.file(manifest.ModuleFile) != nil {
		if err := p.finish(o); err != nil {
			return nil, nil, From(dir, err)
		}
	}
	made, data, err := packFiles(dir, p.files)
	if err == nil && made.Module == nil && o.Key != nil {
		err = From(dir, refused(RuleSignature, "leave out the key", "the package of a program has no place for a signature"))
	}
	return made, data, err
}

// packFiles returns the package of the files of dir, and its tar.
func packFiles(dir string, files []archive.File) (*Package, []byte, error) {
	made, err := Load(files)
	if err != nil {
		return nil, nil, From(dir, err)
	}
	slices.SortStableFunc(made.files, func(a, b archive.File) int { return order(a.Name) - order(b.Name) })
	var out bytes.Buffer
	if err := archive.WriteTar(&out, made.files); err != nil {
		return nil, nil, err
	}
	if out.Len() > archive.MaxSize {
		return nil, nil, refused(RulePackage, "", "the package has %d bytes, expected at most %d", out.Len(), archive.MaxSize)
	}
	return made, out.Bytes(), nil
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
		return refused(RulePackage, "build the module first", "%q is missing, which %s names as wasm_file", m.WasmFile, manifest.ModuleFile)
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
