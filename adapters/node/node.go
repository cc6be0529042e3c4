// Package node teaches bento the package managers of Node.js.
//
// A directory belongs to the manager that its packageManager field or lockfile
// names, or those of the workspace that it is a member of. Recipes are scripts of
// package.json, run by the manager; a workspace is installed once, at its root.
package node

import (
	"context"
	"fmt"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/node/packagejson"
	"github.com/bentobuild/bento/diagnostics"
)

// Adapter is the adapter of one package manager. It is safe for concurrent use.
type Adapter struct {
	env      adapters.Environ
	manager  manager
	manifest adapters.Manifest
	packages memo[*packagejson.Manifest] // by path of the package.json
	members  memo[[]string]              // by path of the workspace's package.json
	installs memo[[]string]              // by path of the package.json at the scope's root
	configs  memo[[]string]              // by directory
	seen     adapters.Moment[machine]
}

// NewNPM gives the adapter of npm, id node-npm. Tools are looked for in
// o.Env, which is also where probes take their environment from.
func NewNPM(o adapters.Options) *Adapter {
	return &Adapter{env: o.Env, manager: npm, manifest: adapters.Manifest{
		ProtocolVersion: adapters.ProtocolVersion,
		AdapterID:       "node-npm",
		DisplayName:     "node-npm",
		FingerprintFiles: []string{
			"package.json", "package-lock.json", "npm-shrinkwrap.json", ".npmrc",
			".nvmrc", ".node-version", ".tool-versions",
		},
		Capabilities: adapters.Capabilities{
			Detect: true, RequiredToolchain: true, ResolvedToolchainFingerprint: true,
			Install: true, Tasks: true, Links: true, InstallScope: true,
		},
		DiagnosticHooks: map[string]adapters.Hook{"lint": {
			Rerun:  adapters.Rerun{Kind: adapters.RerunReplace, Command: "npx --no-install eslint --format=json ."},
			Parser: "eslint",
		}},
		DerivedPaths: derivedPaths(),
		Parallel:     64,
		Identity:     "node-npm/1",
		Family:       "node",
		Runtime:      "node",
		PassEnv:      passEnv(),
		SteeringEnv:  steeringEnv(),
		SetEnv: map[string]string{
			"COREPACK_ENABLE_NETWORK":    "0",
			"npm_config_audit":           "false",
			"npm_config_fund":            "false",
			"npm_config_loglevel":        "error",
			"npm_config_progress":        "false",
			"npm_config_update_notifier": "false",
		},
	}}
}

// derivedPaths are what the tools of this ecosystem leave behind.
func derivedPaths() []string {
	return []string{
		"**/node_modules/**", "dist/**", "build/**", "out/**", ".next/**", ".nuxt/**",
		".output/**", ".svelte-kit/**", ".turbo/**", ".cache/**", ".parcel-cache/**",
		".eslintcache", "coverage/**", "storybook-static/**", "*.tsbuildinfo",
	}
}

// passEnv are homes, caches, registries and version managers.
func passEnv() []string {
	return []string{
		"npm_config_*", "NPM_CONFIG_*", "NPM_TOKEN", "NODE_AUTH_TOKEN", "COREPACK_*",
		"NVM_DIR", "FNM_*", "VOLTA_*", "NODENV_*", "ASDF_*", "MISE_*", "N_PREFIX",
	}
}

// steeringEnv change what the tools make.
func steeringEnv() []string {
	return []string{
		"NODE_ENV", "NODE_OPTIONS", "NODE_PATH", "NODE_PRESERVE_SYMLINKS",
		"BABEL_ENV", "BROWSERSLIST", "BROWSERSLIST_ENV", "SOURCE_DATE_EPOCH",
	}
}

// Manifest tells what the adapter is.
func (a *Adapter) Manifest() *adapters.Manifest { return &a.manifest }

// Detect tells whether dir holds a package.json of this manager.
func (a *Adapter) Detect(ctx context.Context, dir string) (bool, error) {
	f := adapters.NewFiles(dir)
	return f.IsFile(packageFile) && a.decide(f) == a.manager, nil
}

// ParseDiagnostics is never asked: no hook names the parser "plugin".
func (a *Adapter) ParseDiagnostics(context.Context, adapters.ParseRequest) ([]diagnostics.Diagnostic, error) {
	return nil, nil
}

// project is a package with the workspace that it belongs to.
type project struct {
	*packagejson.Manifest
	dir  string
	root *packagejson.Manifest // of the workspace; the own one when there is none above
}

// scope is the directory that is installed at once.
func (p *project) scope() string { return dirOf(p.root) }

// isMember tells whether a workspace above names the package.
func (p *project) isMember() bool { return p.root != p.Manifest }

// open reads the package in f's directory.
func (a *Adapter) open(f *adapters.Files) (*project, error) {
	own, err := a.read(f, packageFile)
	if err != nil {
		return nil, err
	}
	if own == nil {
		return nil, fmt.Errorf("%s: no package.json", f.Dir())
	}
	root, err := a.workspaceOf(f)
	if err != nil {
		return nil, err
	}
	if root == nil {
		root = own
	}
	return &project{Manifest: own, dir: f.Dir(), root: root}, nil
}

// read gives the package.json under name, nil when there is no such file.
func (a *Adapter) read(f *adapters.Files, name string) (*packagejson.Manifest, error) {
	path := f.Path(name)
	return a.packages.get(f, path, func(f *adapters.Files) (*packagejson.Manifest, error) {
		data, err := f.ReadIfExists(path)
		if data == nil || err != nil {
			return nil, err
		}
		return packagejson.ParseManifest(path, data)
	})
}
