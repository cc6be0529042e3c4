// Package tools finds the tools of a project and their versions.
package tools

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/node/project"
	"github.com/bentobuild/bento/adapters/node/settings"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/internal/probe"
	"github.com/bentobuild/bento/internal/semver"
)

// Tools finds Node.js and one package manager. It is safe for concurrent use.
type Tools struct {
	Shelf   *project.Shelf
	Manager project.Manager
	Env     adapters.Environ // of child processes
	Asker   *probe.Asker
	Hint    adapters.Packages // how to install the manager
	// Follows reports whether a manager may switch to the version that a project requires.
	Follows bool

	seen snapshot.Machine[machine]
}

// Fingerprint returns "node=<version> npm=<version>" of the tools in dir.
func (t *Tools) Fingerprint(ctx context.Context, at probe.At) (string, error) {
	var parts []string
	node := ""
	for _, tool := range t.names() {
		if !t.isNeeded(tool) {
			continue
		}
		version, err := t.version(ctx, at, tool, node)
		if err != nil {
			return "", err
		}
		if tool == "node" {
			node = version
		}
		parts = append(parts, tool+"="+version)
	}
	return strings.Join(parts, " "), nil
}

// names returns the executables that recipes use.
func (t *Tools) names() []string { return []string{"node", string(t.Manager)} }

// isNeeded reports whether a tool is required: without Node.js, bun runs scripts for it
// itself.
func (t *Tools) isNeeded(tool string) bool {
	if t.Manager != project.Bun || tool != "node" {
		return true
	}
	_, err := t.Env.LookPath(tool)
	return err == nil
}

// version returns the version of a tool; node is that of Node.js, once it is known.
func (t *Tools) version(ctx context.Context, at probe.At, tool, node string) (string, error) {
	path, err := t.Find(t.Env, tool)
	if err != nil {
		return "", err
	}
	at = at.Of(path)
	if !at.Leave.Given() {
		if version, err := t.chosen(at, tool); version != "" || err != nil {
			return version, err
		}
		if version := t.installed(path, tool, node); version != "" {
			return version, nil
		}
	}
	q := probe.ManagerVersion
	if tool == "node" {
		q = probe.NodeVersion
	}
	output, err := t.Asker.Ask(ctx, q, at)
	var refused *probe.Refusal
	if errors.As(err, &refused) && tool != "node" && isCorepack(path) {
		return "", t.missingVersion(at.Dir, tool)
	} else if err != nil {
		return "", err
	}
	version, err := versionIn(path, output.Out)
	if err == nil && !at.Leave.Given() {
		err = t.becomes(at.Dir, tool, version)
	}
	return version, err
}

// versionIn returns the last line that is a version: some tools print warnings before it.
func versionIn(path, out string) (version string, err error) {
	for line := range strings.Lines(out) {
		line = strings.TrimSpace(line)
		if _, err := semver.Parse(line); err == nil {
			version = line
		}
	}
	if version == "" {
		return "", fmt.Errorf("%q printed no version: %.200q", path+" --version", out)
	}
	return version, nil
}

// Find returns the path of a tool in env's PATH; the error says how to install it.
func (t *Tools) Find(env adapters.Environ, tool string) (string, error) {
	path, err := env.LookPath(tool)
	var missing *adapters.MissingTool
	if errors.As(err, &missing) {
		hint := t.Hint
		if tool == "node" {
			hint = Node()
		}
		missing.Hint = hint.Hint(env)
	}
	return path, err
}

// Node returns how to install Node.js, which includes npm.
func Node() adapters.Packages {
	return adapters.Packages{
		Apt: "nodejs npm", Dnf: "nodejs npm", Zypper: "nodejs-default npm-default",
		Pacman: "nodejs npm", Apk: "nodejs npm", Brew: "node", Else: "see https://nodejs.org/en/download",
	}
}

// missingVersion returns the error of a manager that corepack would have to fetch.
func (t *Tools) missingVersion(dir, tool string) error {
	m := &adapters.MissingTool{Tool: tool, Hint: `let corepack fetch it with "corepack install", or allow it with [toolchain] allow_download = true in bento.toml`}
	if p, err := t.Shelf.Open(t.Shelf.Files(dir)); err == nil {
		for _, manifest := range p.Manifests() {
			if name, version := manifest.Manager(); name == tool {
				m.Tool += " " + version
				break
			}
		}
	}
	return m
}

// isCorepack reports whether a tool is a shim of corepack.
func isCorepack(path string) bool {
	real, err := filepath.EvalSymlinks(path)
	return err == nil && strings.Contains(real, "/corepack/")
}

// Basis returns everything that Fingerprint depends on: the executables, and for shims of a version
// manager also the installed versions and the files and variables that choose between them.
func (t *Tools) Basis(dir string) (string, error) {
	seen, err := t.seen.See(t.Shelf.Source, t.look)
	if err != nil || !seen.shims && !t.Follows && t.Manager != project.Yarn {
		return seen.basis, err
	}
	b := probe.NewBasis(t.Env)
	if seen.shims || t.Follows {
		t.steering(b, dir)
	}
	if t.Manager == project.Yarn {
		t.yarnBasis(b, dir)
	}
	return seen.basis + b.String(), nil
}

// machine is the part of the basis that all directories share.
type machine struct {
	basis string
	shims bool // some tool is a shim
}

func (t *Tools) look() (machine, error) {
	b := probe.NewBasis(t.Env)
	b.Env("NODE_OPTIONS", "NODE_PATH")
	m := machine{}
	for _, tool := range t.names() {
		if !t.isNeeded(tool) {
			continue
		}
		path, err := t.Find(t.Env, tool)
		if err != nil {
			return machine{}, err
		}
		b.File(path)
		real, err := filepath.EvalSymlinks(path)
		if err != nil {
			return machine{}, err
		}
		if tool != "node" {
			// npm is a script inside its package.
			b.File(filepath.Join(filepath.Dir(filepath.Dir(real)), project.File))
		}
		if root, ok := t.shimRoot(path, real); ok {
			m.shims = true
			choices(b, root, tool)
		}
	}
	m.basis = b.String()
	return m, nil
}

// shimRoot reports whether a tool is a shim (nodenv, asdf, mise, volta, corepack) and
// returns the directory of its version manager.
func (t *Tools) shimRoot(path, real string) (root string, ok bool) {
	switch {
	case filepath.Base(filepath.Dir(path)) == "shims":
		return filepath.Dir(filepath.Dir(path)), true
	case filepath.Base(real) == "volta-shim":
		return t.voltaHome(), true
	case isCorepack(path):
		return t.corepackHome(), true
	}
	return "", false
}

// choices adds the versions that a version manager has, and its default.
func choices(b *probe.Basis, root, tool string) {
	for _, name := range []string{"version", "tools/user/platform.json", "lastKnownGood.json"} {
		b.File(filepath.Join(root, name))
	}
	for _, pattern := range []string{
		"versions/*/bin/" + tool,              // nodenv
		"installs/node*/*/bin/" + tool,        // asdf, mise
		"tools/image/" + tool + "/*/bin/*",    // volta
		"v1/" + tool + "/*/" + project.File,   // corepack
		tool + "/*/" + project.File,           // corepack up to 0.24
		"tools/image/node/*/lib/node_modules", // volta: the npm of a node
	} {
		found, _ := filepath.Glob(filepath.Join(root, pattern))
		for _, path := range found {
			b.File(path)
		}
	}
}

// steering adds the files that version managers read in dir and above, up to the root of
// the file system, and at home.
func (t *Tools) steering(b *probe.Basis, dir string) {
	b.Env("NODENV_VERSION", "ASDF_NODEJS_VERSION", "MISE_NODE_VERSION", "MISE_ENV", "VOLTA_FEATURE_PNPM", "COREPACK_ENABLE_PROJECT_SPEC", "COREPACK_ENABLE_STRICT")
	b.Above(dir, append(probe.ManagerFiles(), ".node-version", ".nvmrc", corepackEnv, project.File)...)
	b.Home(".tool-versions", filepath.Join(".config", "mise", "config.toml"))
}

// yarnBasis adds the project's own yarn, which the one on PATH starts instead.
func (t *Tools) yarnBasis(b *probe.Basis, dir string) {
	b.Env("YARN_YARN_PATH", "YARN_IGNORE_PATH", "YARN_RC_FILENAME")
	b.Above(dir, ".yarnrc", settings.YarnFile)
	f := t.Shelf.Files(dir)
	for at := range f.Ancestors() {
		if y, err := t.Shelf.YarnSettings(f, at); err == nil && y.Path != "" {
			b.File(y.Path)
		}
	}
}
