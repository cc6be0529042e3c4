// Package deno teaches bento Deno.
//
// Recipes are the tasks of deno.json, and where there is none what Deno does by
// itself: check, test and lint. A workspace is installed once, at its root; what its
// members import from each other is found in their sources, since Deno lets them
// without a word in a manifest.
package deno

import (
	"context"
	"slices"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/deno/denojson"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/probe"
)

const (
	id   = "deno"
	tool = "deno"
)

// Adapter is the adapter of Deno. It is safe for concurrent use.
type Adapter struct {
	adapters.Source
	env      adapters.Environ // tools are looked for in it
	asker    *probe.Asker
	manifest adapters.Manifest
	configs  adapters.Memo[*denojson.Config] // by directory
	members  adapters.Memo[[]string]         // by the root of the workspace
	imported adapters.Memo[[]adapters.Link]  // by directory
	locked   adapters.Memo[lockfile]         // by path: a manifest may name another
	names    memberNames
	seen     adapters.Moment[machine]
}

// New gives the adapter, id deno.
func New(o adapters.Options) *Adapter {
	a := &Adapter{Source: o.Source(), env: o.Env, manifest: adapters.Manifest{
		ProtocolVersion:  adapters.ProtocolVersion,
		AdapterID:        id,
		DisplayName:      id,
		Writes:           []string{"package.json"},
		FingerprintFiles: []string{"deno.json", "deno.jsonc", "deno.lock", "import_map.json", ".deno-version", ".dvmrc", ".tool-versions"},
		Capabilities: adapters.Capabilities{
			Detect: true, RequiredToolchain: true, ResolvedToolchainFingerprint: true,
			Install: true, Tasks: true, Links: true, InstallScope: true, Add: true,
		},
		DiagnosticHooks: hooks(),
		DerivedPaths:    []string{"**/node_modules/**", "dist/**", "coverage/**"},
		Parallel:        64,
		Identity:        id + "/1",
		PassEnv: []string{
			"DENO_DIR", "DENO_AUTH_TOKENS", "DENO_CERT", "DENO_INSTALL_ROOT", "DENO_TLS_CA_STORE", "JSR_URL",
			"npm_config_*", "NPM_CONFIG_*", "ASDF_*", "MISE_*", "DVM_DIR",
		},
		SteeringEnv: []string{"DENO_CONDITIONS", "DENO_COMPAT", "DENO_NO_PACKAGE_JSON", "DENO_V8_FLAGS", "NODE_ENV", "NODE_OPTIONS"},
		SetEnv: map[string]string{
			// A task may call pnpm, which would install first.
			"pnpm_config_verify_deps_before_run": "false",
			"DENO_NO_PROMPT":                     "1",
			"DENO_NO_UPDATE_CHECK":               "1",
			"NO_COLOR":                           "1", // it colours what is no terminal, too
		},
	}}
	m := &a.manifest
	a.asker = probe.New(o.Source(), o.Env.Strict(slices.Concat(m.PassEnv, m.SteeringEnv)...).With(m.SetEnv))
	return a
}

// hooks: Deno writes type errors in one way, whichever command finds them.
func hooks() map[string]adapters.Hook {
	types := adapters.Hook{Parser: "tsc"}
	return map[string]adapters.Hook{"build": types, "check": types, "test": types, "lint": {Parser: "deno-lint"}}
}

// Manifest tells what the adapter is.
func (a *Adapter) Manifest() *adapters.Manifest { return &a.manifest }

// configNames are those of the manifest; the first that is there counts.
func configNames() []string { return []string{"deno.json", "deno.jsonc"} }

// Detect tells whether dir holds one of Deno's files.
func (a *Adapter) Detect(ctx context.Context, dir string) (bool, error) {
	f := a.Files(dir)
	return slices.ContainsFunc(append(configNames(), "deno.lock"), f.IsFile), nil
}

// ParseDiagnostics is never asked: no hook names the parser "plugin".
func (a *Adapter) ParseDiagnostics(context.Context, adapters.ParseRequest) ([]diagnostics.Diagnostic, error) {
	return nil, nil
}
