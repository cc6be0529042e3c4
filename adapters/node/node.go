// Package node has the adapters of the package managers of Node.js: npm, pnpm, both generations of
// yarn, and bun.
//
// A directory belongs to the manager that its packageManager field or lockfile names, or
// those of its workspace. Recipes are scripts of package.json, run by the manager; a
// workspace is installed once, at its root.
package node

import (
	"context"
	"maps"
	"slices"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/node/pins"
	"github.com/bentobuild/bento/adapters/node/project"
	"github.com/bentobuild/bento/adapters/node/tools"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/internal/probe"
)

// Adapter is the adapter of one package manager. It is safe for concurrent use.
type Adapter struct {
	*project.Shelf
	adapters.NoParser
	probe.Versions
	dialect
	env      adapters.Environ
	manifest adapters.Manifest
	pins     pins.Reader
	tools    tools.Tools
	installs snapshot.Memo[deciding]   // by scope
	locked   snapshot.Memo[lockReader] // by scope
	names    packageNames
	scripts  snapshot.Scripts
}

// All returns the adapters of the family in the order of detection. They share the files that they
// read.
func All(o snapshot.Options) []adapters.Adapter {
	s := newShelf(o)
	return []adapters.Adapter{
		newAdapter(s, o, bunDialect()), newAdapter(s, o, pnpmDialect()),
		newAdapter(s, o, yarnDialect(s)), newAdapter(s, o, npmDialect()),
	}
}

func newShelf(o snapshot.Options) *project.Shelf { return project.NewShelf(o, isSharedFile) }

func newAdapter(s *project.Shelf, o snapshot.Options, d dialect) *Adapter {
	a := &Adapter{Shelf: s, dialect: d}
	a.manifest = adapters.Manifest{
		ProtocolVersion:  adapters.ProtocolVersion,
		AdapterID:        d.id,
		DisplayName:      d.id,
		Projects:         []string{project.File},
		Inside:           insideRule,
		FingerprintFiles: fingerprintFiles(d),
		Writes:           writes(),
		Capabilities:     adapters.BuiltinCapabilities(),
		DiagnosticHooks:  hooks(d),
		DerivedPaths:     derivedPaths(),
		EmbedsIn:         embedsIn(),
		Finder:           d.finder,
		Parallel:         64,
		Identity:         d.id + "/5",
		Family:           "node",
		Locks:            d.locks,
		Runtime:          d.runtime(),
		PassEnv:          append(passEnv(), d.passEnv...),
		SteeringEnv:      steeringEnv(),
		SetEnv:           setEnv(d, o.AllowDownload),
	}
	a.pins = pins.Reader{Shelf: s, Manager: d.manager, Download: o.AllowDownload}
	asker := probe.New(o.Source(), o.Env.Strict(slices.Concat(a.manifest.PassEnv, a.manifest.SteeringEnv)...).With(a.manifest.SetEnv))
	a.tools = tools.Tools{Shelf: s, Manager: d.manager, Env: o.Env, Asker: asker, Hint: d.hint, Follows: o.AllowDownload}
	a.env, a.scripts = o.Env, o.Scripts
	a.Versions = a.tools.Fingerprint
	return a
}

// runtime returns the tool's key in [toolchain].
func (d *dialect) runtime() string {
	if d.manager == project.Bun {
		return string(project.Bun)
	}
	return "node"
}

func fingerprintFiles(d dialect) []string {
	files := append([]string{project.File}, d.locks...)
	for _, name := range d.settings {
		if !isDirectory(name) {
			files = append(files, name)
		}
	}
	if d.manager == project.Bun {
		files = append(files, ".bun-version")
	}
	return append(files, ".nvmrc", ".node-version", ".tool-versions")
}

// writes returns the files that any of the managers writes. Some managers write files of others: npm
// updates a yarn.lock.
func writes() []string {
	return []string{
		"package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "pnpm-workspace.yaml", "yarn.lock", "bun.lock", "bun.lockb",
		".pnp.cjs", ".pnp.loader.mjs", ".pnp.data.json", ".yarn/install-state.gz",
	}
}

// hooks returns the usual tools of scripts with these names.
func hooks(d dialect) map[string]adapters.Hook {
	compiles, tests := adapters.Hook{Parser: "tsc"}, adapters.Hook{Parser: "js-test"}
	return map[string]adapters.Hook{
		"build": compiles, "check": compiles, "test": tests,
		"test:unit": tests, "test-unit": tests, "unit": tests, "test:ci": tests, "vitest": tests, "jest": tests, "mocha": tests,
		"typecheck": compiles, "type-check": compiles, "check-types": compiles, "types": compiles, "tsc": compiles,
		"lint": {
			Rerun:  adapters.Rerun{Kind: adapters.RerunReplace, Command: d.eslint},
			Parser: "eslint",
		},
		"eslint": {Parser: "eslint"},
	}
}

// derivedPaths returns globs of files that the tools of this ecosystem write.
func derivedPaths() []string {
	return []string{
		"**/node_modules/**", "dist/**", "build/**", "out/**", ".next/**", ".nuxt/**",
		".output/**", ".svelte-kit/**", ".turbo/**", ".cache/**", ".parcel-cache/**",
		".eslintcache", "coverage/**", "storybook-static/**", ".angular/**", "*.tsbuildinfo",
		".pnp.*", ".yarn/cache/**", ".yarn/unplugged/**", ".yarn/install-state.gz", ".yarn/build-state.yml",
	}
}

// passEnv returns homes, caches, registries and version managers.
func passEnv() []string {
	return []string{
		"npm_config_*", "NPM_CONFIG_*", "NPM_TOKEN", "NODE_AUTH_TOKEN", "COREPACK_*",
		"PLAYWRIGHT_*", "PUPPETEER_*", "CYPRESS_*", "ELECTRON_*", "HUSKY", "SENTRYCLI_*",
		"NVM_DIR", "FNM_*", "VOLTA_*", "NODENV_*", "ASDF_*", "MISE_*", "N_PREFIX",
	}
}

// steeringEnv returns the variables that change the outputs of the tools.
func steeringEnv() []string {
	return []string{
		"NODE_ENV", "NODE_OPTIONS", "NODE_PATH", "NODE_PRESERVE_SYMLINKS",
		"BABEL_ENV", "BROWSERSLIST", "BROWSERSLIST_ENV", "SOURCE_DATE_EPOCH",
		// Frameworks write the variables with these prefixes into what they build.
		"NEXT_PUBLIC_*", "VITE_*", "PUBLIC_*", "NUXT_*", "NITRO_*", "EXPO_PUBLIC_*", "REACT_APP_*", "GATSBY_*", "VUE_APP_*",
		"STORYBOOK_*", "SANITY_STUDIO_*", "REDWOOD_ENV_*", "NG_APP_*",
	}
}

func setEnv(d dialect, download bool) map[string]string {
	env := map[string]string{
		"COREPACK_ENABLE_AUTO_PIN": "0", "COREPACK_ENABLE_DOWNLOAD_PROMPT": "0",
		// A script of any manager may call pnpm, which would install first.
		"pnpm_config_verify_deps_before_run": "false",
	}
	maps.Copy(env, d.setEnv)
	if !download {
		env["COREPACK_ENABLE_NETWORK"] = "0"
		maps.Copy(env, d.stayEnv)
	}
	return env
}

// Manifest implements adapters.Adapter.
func (a *Adapter) Manifest() *adapters.Manifest { return &a.manifest }

// Detect reports whether dir holds a package.json of this manager.
func (a *Adapter) Detect(ctx context.Context, dir string) (bool, error) {
	f := a.Files(dir)
	return f.IsFile(project.File) && a.Decide(f) == a.manager && a.IsProject(f), nil
}

// RequiredToolchain implements adapters.Adapter: the version of Node.js that the project
// requires (for bun that of bun), with that of the package manager as More.
func (a *Adapter) RequiredToolchain(ctx context.Context, dir string) (*adapters.Toolchain, error) {
	f := a.Files(dir)
	p, err := a.Open(f)
	if err != nil {
		return nil, err
	}
	asked, err := a.pins.Of(f, p)
	if err != nil || len(asked) == 0 {
		return nil, err
	}
	if len(asked) > 1 {
		asked[0].More = asked[1:]
	}
	return &asked[0], nil
}

// CheckPin implements adapters.PinChecker.
func (a *Adapter) CheckPin(want adapters.Toolchain, fingerprint string) adapters.Verdict {
	return pins.Check(want, fingerprint)
}

// ToolchainBasis implements adapters.Steerer.
func (a *Adapter) ToolchainBasis(ctx context.Context, dir string) (string, error) {
	return a.tools.Basis(dir)
}
