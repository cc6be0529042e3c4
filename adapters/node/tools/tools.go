// Package tools finds the tools of a project and tells which versions they are.
package tools

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/Masterminds/semver/v3"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/node/project"
	"github.com/bentobuild/bento/internal/proc"
)

// The bounds of a question to a tool.
const (
	probeTimeout = 30 * time.Second
	probeOutput  = 64 << 10
)

// Tools are Node.js and one package manager. It is safe for concurrent use.
type Tools struct {
	Shelf   *project.Shelf
	Manager project.Manager
	Env     adapters.Environ  // tools are looked for in it
	Probe   adapters.Environ  // what they see when they are asked
	Hint    adapters.Packages // how to get the manager
	// Follows says that a manager may become the version that a project asks for.
	Follows bool

	seen adapters.Moment[machine]
}

// Fingerprint gives "node=<version> npm=<version>" as they answer in dir.
func (t *Tools) Fingerprint(ctx context.Context, dir string) (string, error) {
	var parts []string
	for _, tool := range t.names() {
		if !t.isNeeded(tool) {
			continue
		}
		version, err := t.version(ctx, dir, tool)
		if err != nil {
			return "", err
		}
		parts = append(parts, tool+"="+version)
	}
	return strings.Join(parts, " "), nil
}

// names are the executables that recipes use.
func (t *Tools) names() []string { return []string{"node", string(t.Manager)} }

// isNeeded tells whether there is no doing without a tool: bun runs what asks for
// Node.js itself where there is none.
func (t *Tools) isNeeded(tool string) bool {
	if t.Manager != project.Bun || tool != "node" {
		return true
	}
	_, err := t.Env.LookPath(tool)
	return err == nil
}

func (t *Tools) version(ctx context.Context, dir, tool string) (string, error) {
	path, err := t.Find(t.Env, tool)
	if err != nil {
		return "", err
	}
	out, errOut, res, err := proc.Output(ctx, proc.Spec{
		Argv: []string{path, "--version"}, Dir: dir, Env: t.Probe, Timeout: probeTimeout,
	}, probeOutput)
	switch {
	case err != nil:
		return "", err
	case res.Canceled:
		return "", context.Cause(ctx)
	case res.ExitCode == 127 || res.ExitCode == 126:
		// A version manager's shim has no such version.
		return "", &adapters.MissingTool{Tool: tool, Hint: lastLine(errOut)}
	case res.ExitCode != 0 && tool != "node" && isCorepack(path):
		return "", t.missingVersion(dir, tool)
	case res.ExitCode != 0:
		return "", fmt.Errorf("%q in %q exited with status %d: %s", path+" --version", dir, res.ExitCode, lastLine(errOut))
	}
	return versionIn(path, out)
}

// versionIn takes the last line that is a version: some tools print warnings
// before it.
func versionIn(path string, out []byte) (version string, err error) {
	for line := range strings.Lines(string(out)) {
		line = strings.TrimSpace(line)
		if _, err := semver.NewVersion(line); err == nil {
			version = line
		}
	}
	if version == "" {
		return "", fmt.Errorf("%q printed no version: %.200q", path+" --version", out)
	}
	return version, nil
}

func lastLine(text []byte) string {
	lines := strings.Split(strings.TrimSpace(strings.ToValidUTF8(string(text), "\uFFFD")), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}

// Find looks for a tool on env's PATH; the error says how to get it.
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

// Node says how to get Node.js, and npm with it.
func Node() adapters.Packages {
	return adapters.Packages{
		Apt: "nodejs npm", Dnf: "nodejs npm", Zypper: "nodejs-default npm-default",
		Pacman: "nodejs npm", Apk: "nodejs npm", Brew: "node", Else: "see https://nodejs.org/en/download",
	}
}

// missingVersion is the error of a manager that corepack would have to fetch.
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

// isCorepack tells whether a tool is a shim of corepack's.
func isCorepack(path string) bool {
	real, err := filepath.EvalSymlinks(path)
	return err == nil && strings.Contains(real, "/corepack/")
}

// Basis describes what decides Fingerprint: the executables, and
// where they are shims of a version manager, the versions that it chooses from
// and the files and variables that make it choose.
func (t *Tools) Basis(dir string) (string, error) {
	seen, err := t.seen.See(t.look)
	if err != nil || !seen.shims && !t.Follows && t.Manager != project.Yarn {
		return seen.basis, err
	}
	b := adapters.NewBasis(t.Env)
	if seen.shims || t.Follows {
		t.steering(b, dir)
	}
	if t.Manager == project.Yarn {
		t.yarnBasis(b, dir)
	}
	return seen.basis + b.String(), nil
}

// machine is what the fingerprint depends on in every directory.
type machine struct {
	basis string
	shims bool // some tool is one
}

func (t *Tools) look() (machine, error) {
	b := adapters.NewBasis(t.Env)
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

// shimRoot tells whether a tool is a shim (nodenv, asdf, mise, volta, corepack)
// and where its version manager lives.
func (t *Tools) shimRoot(path, real string) (root string, ok bool) {
	switch {
	case filepath.Base(filepath.Dir(path)) == "shims":
		return filepath.Dir(filepath.Dir(path)), true
	case filepath.Base(real) == "volta-shim":
		if home := t.Env.Get("VOLTA_HOME"); home != "" {
			return home, true
		}
		return filepath.Join(t.Env.Get("HOME"), ".volta"), true
	case isCorepack(path):
		if home := t.Env.Get("COREPACK_HOME"); home != "" {
			return home, true
		}
		return filepath.Join(t.Env.Get("HOME"), ".cache", "node", "corepack"), true
	}
	return "", false
}

// choices adds the versions that a version manager has, and its default.
func choices(b *adapters.Basis, root, tool string) {
	for _, name := range []string{"version", "tools/user/platform.json", "lastKnownGood.json"} {
		b.File(filepath.Join(root, name))
	}
	for _, pattern := range []string{
		"versions/*/bin/" + tool,              // nodenv
		"installs/node*/*/bin/" + tool,        // asdf, mise
		"tools/image/" + tool + "/*/bin/*",    // volta
		"v1/" + tool + "/*/" + project.File,   // corepack
		"tools/image/node/*/lib/node_modules", // volta: the npm of a node
	} {
		found, _ := filepath.Glob(filepath.Join(root, pattern))
		for _, path := range found {
			b.File(path)
		}
	}
}

// steering adds what version managers look for at and above dir, up to the root
// of the file system as they do, and at home.
func (t *Tools) steering(b *adapters.Basis, dir string) {
	b.Env("NODENV_VERSION", "ASDF_NODEJS_VERSION", "MISE_NODE_VERSION", "MISE_ENV", "VOLTA_FEATURE_PNPM")
	b.Above(dir, ".node-version", ".nvmrc", ".tool-versions", "mise.toml", ".mise.toml", project.File)
	b.Home(".tool-versions", filepath.Join(".config", "mise", "config.toml"))
}

// yarnBasis adds the yarn that the project brings along, which answers in the place
// of the one on PATH.
func (t *Tools) yarnBasis(b *adapters.Basis, dir string) {
	b.Env("YARN_YARN_PATH", "YARN_IGNORE_PATH")
	f := t.Shelf.Files(dir)
	for at := range f.Ancestors() {
		b.IfThere(filepath.Join(at, ".yarnrc"))
		if y, err := t.Shelf.YarnSettings(f, at); err == nil && y.Path != "" {
			b.File(y.Path)
		}
	}
}
