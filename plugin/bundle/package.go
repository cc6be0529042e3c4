// Package bundle installs the packages of tools and of adapters below a directory of the user's, and
// finds the installed ones. A package is a WebAssembly module with its manifest.json, a one-shot
// program with its rterm-plugin.json, or an adapter with its bento-plugin.json.
package bundle

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/plugin/bundle/archive"
	"github.com/bentobuild/bento/plugin/bundle/manifest"
	"github.com/bentobuild/bento/plugin/bundle/seal"
)

// The kinds of packages.
const (
	KindModule  = "module"
	KindProcess = "process"
	KindAdapter = "adapter"
)

// The rules of diagnostics about packages, beside those of package manifest.
const (
	RulePackage    = "package_invalid"
	RuleNotFound   = "package_not_installed"
	RuleConflict   = "package_conflict"
	RuleSignature  = "package_signature"
	RuleDigest     = "package_digest"
	RuleDependency = "package_dependency"
	RuleSkipped    = "package_skipped"
)

// Package is a package in memory that has passed all checks but those of its signature.
type Package struct {
	Kind, ID, Version string
	Digest            string // of the names, modes and contents of its files, hexadecimal
	Module            *manifest.Module
	Process           *manifest.Process
	Adapter           *manifest.Adapter
	Packed            []byte           // the archive that it was packed as or read from; nil for a directory
	Signatures        []seal.Signature // of Packed
	files             []archive.File
	signedBy          string // the fingerprint of the trusted key that has signed Packed
}

// Load checks the files of a package. The manifest is at the root, or in the only directory at the root.
func Load(files []archive.File) (*Package, error) {
	rooted := archive.Rooted(files, manifest.ModuleFile, manifest.ProcessFile, manifest.AdapterFile)
	if rooted == nil {
		return nil, diagnostics.Refuse(RulePackage, "see docs/tool-packages.md and docs/plugin-packages.md",
			"no manifest, expected %s, %s or %s at the root of the package or in its only directory", manifest.ModuleFile, manifest.ProcessFile, manifest.AdapterFile)
	}
	p := &Package{files: slices.Clone(rooted)}
	load := p.loadModule
	switch {
	case p.file(manifest.AdapterFile) != nil:
		load = p.loadAdapter
	case p.file(manifest.ProcessFile) != nil:
		load = p.loadProcess
	}
	if err := load(); err != nil {
		return nil, err
	}
	p.Digest = digestOf(p.records())
	return p, nil
}

func (p *Package) file(name string) *archive.File {
	i := slices.IndexFunc(p.files, func(f archive.File) bool { return f.Name == name })
	if i < 0 {
		return nil
	}
	return &p.files[i]
}

func (p *Package) loadModule() error {
	m, err := manifest.ReadModule(manifest.ModuleFile, p.file(manifest.ModuleFile).Data)
	if err != nil {
		return err
	}
	p.Kind, p.ID, p.Version, p.Module = KindModule, m.ID, m.Version, m
	wasm := p.file(m.WasmFile)
	if wasm == nil {
		return diagnostics.Refuse(RulePackage, "", "%q is missing, which %s names as wasm_file", m.WasmFile, manifest.ModuleFile)
	}
	for _, f := range p.files {
		if f.Name != m.WasmFile && f.Name != manifest.ModuleFile {
			return diagnostics.Refuse(RulePackage, "bento tool package makes one of a directory",
				"entry %.200q: expected only %s and %q in the package of a module", f.Name, manifest.ModuleFile, m.WasmFile)
		}
	}
	for i := range p.files {
		p.files[i].Exec = false
	}
	if err := m.Compatible(); err != nil {
		return err
	}
	if err := coreModule(m.WasmFile, wasm.Data); err != nil {
		return err
	}
	switch got := sum(wasm.Data); {
	case m.Unset():
		return diagnostics.Refuse(RuleDigest, "make the package with bento tool package, which computes it", "%s: wasm_sha256 is not set", manifest.ModuleFile)
	case got != m.WasmSHA256:
		return diagnostics.Refuse(RuleDigest, "get the package again, or make it again with bento tool package",
			"integrity check failed for `%s`: checksum mismatch: its sha256 is %s, expected %s", m.WasmFile, got, m.WasmSHA256)
	}
	return nil
}

// coreModule refuses a module that no engine for core modules can load.
func coreModule(name string, data []byte) error {
	const core = "\x00asm\x01\x00\x00\x00"
	switch {
	case bytes.HasPrefix(data, []byte(core)):
		return nil
	case bytes.HasPrefix(data, []byte("\x00asm")):
		return diagnostics.Refuse(RulePackage, "build it as a core module for wasm32-wasip1, not as a component", "%q is a WebAssembly component or of another version, expected a core module", name)
	}
	return diagnostics.Refuse(RulePackage, "build it for wasm32-wasip1", "%q is no WebAssembly module", name)
}

func (p *Package) loadProcess() error {
	m, err := manifest.ReadProcess(manifest.ProcessFile, p.file(manifest.ProcessFile).Data)
	if err != nil {
		return err
	}
	p.Kind, p.ID, p.Version, p.Process = KindProcess, m.ID, m.Version, m
	size := 0
	for _, f := range p.files {
		size += len(f.Data)
	}
	if size > archive.MaxBundle {
		return diagnostics.Refuse(RulePackage, "", "the files have %d bytes, expected at most %d", size, archive.MaxBundle)
	}
	if command := m.Command; strings.Contains(command, "/") && !strings.HasPrefix(command, "/") {
		f := p.file(path.Clean(command))
		if f == nil {
			return diagnostics.Refuse(RulePackage, "", "%q is missing, which %s names as process.command", command, manifest.ProcessFile)
		}
		f.Exec = true // a zip may lack the bit
	}
	return nil
}

// fileRecord describes an installed file.
type fileRecord struct {
	Path   string `json:"path"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
	Exec   bool   `json:"executable,omitempty"`
}

func (p *Package) records() []fileRecord {
	list := make([]fileRecord, len(p.files))
	for i, f := range p.files {
		list[i] = fileRecord{f.Name, int64(len(f.Data)), sum(f.Data), f.Exec}
	}
	return list
}

// digestOf returns the digest of a package.
func digestOf(files []fileRecord) string {
	files = slices.Clone(files)
	slices.SortFunc(files, func(a, b fileRecord) int { return strings.Compare(a.Path, b.Path) })
	h := sha256.New()
	fmt.Fprint(h, "bento package 1\n")
	for _, f := range files {
		fmt.Fprintf(h, "%s %t %q\n", f.SHA256, f.Exec, f.Path)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// moduleDigest is digestOf for the package of a module.
func moduleDigest(m *manifest.Module, manifestSHA256, wasmSHA256 string) string {
	return digestOf([]fileRecord{{Path: manifest.ModuleFile, SHA256: manifestSHA256}, {Path: m.WasmFile, SHA256: wasmSHA256}})
}

func sum(data []byte) string {
	s := sha256.Sum256(data)
	return hex.EncodeToString(s[:])
}

// From returns err with the name of the source of a package in every problem.
func From(source string, err error) error {
	var problems diagnostics.Problems
	if !errors.As(err, &problems) {
		return fmt.Errorf("%s: %w", source, err)
	}
	named := slices.Clone(problems)
	for i := range named {
		if named[i].File != "" {
			named[i].File = source + ":" + named[i].File
		} else {
			named[i].Message = source + ": " + named[i].Message
		}
	}
	return named
}
