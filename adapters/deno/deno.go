// Package deno teaches bento Deno.
//
// Recipes are the tasks of deno.json, and the missing ones of check, test and lint are
// Deno's own commands. A workspace is installed once, at its root. Deno lets members import
// each other without an entry in a manifest, so the adapter finds these imports in the
// sources.
package deno

import (
	"context"
	"slices"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/deno/denojson"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/internal/probe"
)

const (
	id   = "deno"
	tool = "deno"
)

// Adapter is the adapter of Deno. It is safe for concurrent use.
type Adapter struct {
	snapshot.Source
	adapters.NoParser
	probe.Versions
	env      adapters.Environ // of child processes
	asker    *probe.Asker
	manifest adapters.Manifest
	configs  snapshot.Memo[*denojson.Config] // by directory
	members  snapshot.Memo[[]string]         // by the root of the workspace
	imported snapshot.Memo[[]adapters.Link]  // by directory
	locked   snapshot.Memo[lockfile]         // by path: a manifest may name another lockfile
	names    memberNames
	scripts  snapshot.Scripts
	seen     snapshot.Machine[machine]
}

// New returns the adapter, id deno.
func New(o snapshot.Options) *Adapter {
	a := &Adapter{Source: o.Source(), env: o.Env, scripts: o.Scripts, manifest: adapters.Manifest{
		ProtocolVersion:  adapters.ProtocolVersion,
		AdapterID:        id,
		DisplayName:      id,
		Writes:           []string{"package.json"},
		Projects:         configNames(),
		Inside:           insideRule,
		FingerprintFiles: []string{"deno.json", "deno.jsonc", "deno.lock", "package.json", "import_map.json", ".deno-version", ".dvmrc", ".tool-versions"},
		Capabilities:     adapters.BuiltinCapabilities(),
		DiagnosticHooks:  hooks(),
		DerivedPaths:     []string{"**/node_modules/**", "dist/**", "coverage/**"},
		Finder:           finder(),
		Parallel:         64,
		Identity:         id + "/3",
		Group:            "node",
		Locks:            []string{"deno.lock"},
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
		},
	}}
	m := &a.manifest
	a.asker = probe.New(o.Source(), o.Env.Strict(slices.Concat(m.PassEnv, m.SteeringEnv)...).With(m.SetEnv))
	a.Versions = a.asked
	return a
}

// hooks returns the same parser for all tasks: every command of Deno writes type errors
// alike.
func hooks() map[string]adapters.Hook {
	types := adapters.Hook{Parser: "tsc"}
	return map[string]adapters.Hook{"build": types, "check": types, "test": types, "lint": {Parser: "deno-lint"}}
}

// Manifest implements adapters.Adapter.
func (a *Adapter) Manifest() *adapters.Manifest { return &a.manifest }

// configNames returns the names of the manifest; the first that exists wins.
func configNames() []string { return []string{"deno.json", "deno.jsonc"} }

// Detect reports whether dir holds one of Deno's files, or is a member of a workspace of Deno with a
// package.json alone, for which no other manager has a lockfile.
func (a *Adapter) Detect(ctx context.Context, dir string) (bool, error) {
	f := a.Files(dir)
	return slices.ContainsFunc(append(configNames(), "deno.lock"), f.IsFile) || a.isPackage(f), nil
}

// finder describes deno, which lists the files of all members. Tests run in its process: what these look at of other
// members is not observed.
func finder() *adapters.Finder {
	return &adapters.Finder{
		Programs:  []string{"deno"},
		Calls:     []string{"task", "check", "lint", "test", "bench", "fmt"},
		Looks:     []string{"*"},
		Elsewhere: []string{"-r", "--recursive", "-f", "--filter", "--cwd", "--config", "-c"},
	}
}
