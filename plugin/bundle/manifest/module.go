// Package manifest reads the manifests of tools' packages: manifest.json of a WebAssembly module,
// rterm-plugin.json of a one-shot program, and the index of a registry. It opens no file.
package manifest

import (
	"strings"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/jsonfile"
	"github.com/bentobuild/bento/internal/pattern"
)

// The names of the manifests in a package.
const (
	ModuleFile  = "manifest.json"
	ProcessFile = "rterm-plugin.json"
)

// RuntimeAPI is the version of the host's interface that bento offers to modules.
const RuntimeAPI = 2

// MaxSize is the largest size of a manifest in bytes.
const MaxSize = 1 << 20

// Module is the manifest of a WebAssembly module. Lists are never nil.
type Module struct {
	ID, Version      string
	Description      string // "" is the same as none, except for a signature
	HasDescription   bool
	Entrypoint       string // not used by this version of the interface
	WasmFile         string // base name
	WasmSHA256       string // lower case; 64 zeros: unset
	Capabilities     []string
	Hooks            []string // not used
	MinRuntimeAPI    int
	MaxRuntimeAPI    int
	AllowedHostCalls []string // as written; HostCalls returns the effective ones
	Dependencies     []Dependency
	Signature        string // hexadecimal; "" for none
	SigningKeyID     string
	Unknown          []string // keys that bento ignores, sorted
}

// Dependency is a package that another one needs.
type Dependency struct {
	ID         string `json:"id"`
	VersionReq string `json:"version_req"`
}

// moduleKeys are the keys of manifest.json.
var moduleKeys = []string{
	"id", "version", "description", "entrypoint", "wasm_file", "wasm_sha256", "capabilities", "hooks",
	"min_runtime_api", "max_runtime_api", "allowed_host_calls", "dependencies", "signature", "signing_key_id",
}

// ReadModule reads a manifest.json. path is its name in messages. The error is a
// diagnostics.Problems with every problem.
func ReadModule(path string, data []byte) (*Module, error) {
	r, err := newReader(path, data)
	if err != nil {
		return nil, err
	}
	m := &Module{
		ID: r.text("id"), Version: r.text("version"), Entrypoint: r.text("entrypoint"), WasmFile: r.text("wasm_file"),
		Description: r.text("description"), HasDescription: r.root.Get("description").Kind() == jsonfile.String,
		WasmSHA256: strings.ToLower(r.text("wasm_sha256")), Capabilities: r.texts("capabilities"), Hooks: r.texts("hooks"),
		MinRuntimeAPI: r.integer("min_runtime_api"), MaxRuntimeAPI: r.integer("max_runtime_api"),
		AllowedHostCalls: r.texts("allowed_host_calls"), Dependencies: r.dependencies(),
		Signature: r.text("signature"), SigningKeyID: r.text("signing_key_id"), Unknown: r.unknown(moduleKeys),
	}
	r.names(m)
	r.content(m)
	return m, r.err()
}

// names checks the names of the package and of its files.
func (r *reader) names(m *Module) {
	switch {
	case strings.TrimSpace(m.ID) == "":
		r.fail("id", "plugin id cannot be empty")
	case !ValidID(m.ID):
		r.fail("id", "plugin id %.120q is not valid, expected "+idWanted, m.ID)
	}
	switch {
	case strings.TrimSpace(m.Version) == "":
		r.fail("version", "plugin version cannot be empty")
	case !ValidVersion(m.Version):
		r.fail("version", "plugin version %.120q is not valid, expected "+versionWanted, m.Version)
	}
	if strings.TrimSpace(m.Entrypoint) == "" {
		r.fail("entrypoint", "plugin entrypoint cannot be empty")
	}
	switch {
	case strings.TrimSpace(m.WasmFile) == "":
		r.fail("wasm_file", "plugin wasm_file cannot be empty")
	case !strings.HasSuffix(m.WasmFile, ".wasm"):
		r.fail("wasm_file", "plugin wasm_file must end with .wasm")
	case !baseName.MatchString(m.WasmFile):
		r.fail("wasm_file", "plugin wasm_file %.120q is not a plain file name, expected letters, digits, dot, underscore and hyphen, without a directory", m.WasmFile)
	}
}

// baseName is a name that is the same file on every system.
var baseName = pattern.New(`^[0-9A-Za-z_][0-9A-Za-z_.+-]{0,198}$`)

// content checks the digest and the dependencies of the module.
func (r *reader) content(m *Module) {
	if !isHex(m.WasmSHA256, 64) {
		r.fail("wasm_sha256", "plugin wasm_sha256 must be a 64-char hex digest")
	}
	if m.MinRuntimeAPI < 1 {
		r.fail("min_runtime_api", "plugin min_runtime_api must be >= 1")
	}
	if m.MaxRuntimeAPI < 1 {
		r.fail("max_runtime_api", "plugin max_runtime_api must be >= 1")
	}
	if m.MinRuntimeAPI > m.MaxRuntimeAPI {
		r.fail("min_runtime_api", "plugin runtime API range is invalid (min_runtime_api > max_runtime_api)")
	}
	if r.root.Get("allowed_host_calls") == nil {
		r.fail("allowed_host_calls", "plugin allowed_host_calls is missing, expected a list of host functions, which may be empty")
	}
	if m.Signature != "" && !isHex(strings.ToLower(m.Signature), 128) {
		r.fail("signature", "plugin signature must be a 128-char hex Ed25519 signature")
	}
}

// Unset reports whether the manifest states no digest: 64 zeros, as before packaging.
func (m *Module) Unset() bool { return strings.Trim(m.WasmSHA256, "0") == "" }

// Compatible returns an error unless the module runs on this version of the host's interface.
func (m *Module) Compatible() error {
	if m.MinRuntimeAPI <= RuntimeAPI && RuntimeAPI <= m.MaxRuntimeAPI {
		return nil
	}
	hint := "install a newer bento, or an older version of " + m.ID
	if m.MaxRuntimeAPI < RuntimeAPI {
		hint = "upgrade to SDK v2: build the module again with it, then package it again"
	}
	return diagnostics.Refuse(RuleIncompatible, hint, "plugin runtime API compatibility failed: current=%d, supported=%d..=%d (%s %s)",
		RuntimeAPI, m.MinRuntimeAPI, m.MaxRuntimeAPI, m.ID, m.Version)
}

func isHex(text string, length int) bool {
	return len(text) == length && strings.Trim(text, "0123456789abcdef") == ""
}
