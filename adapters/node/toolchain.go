package node

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/Masterminds/semver/v3"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/proc"
)

// The bounds of a question to a tool.
const (
	probeTimeout = 30 * time.Second
	probeOutput  = 64 << 10
)

// ToolchainFingerprint gives "node=<version> npm=<version>" as they answer in dir.
func (a *Adapter) ToolchainFingerprint(ctx context.Context, dir string) (string, error) {
	var parts []string
	for _, tool := range a.tools() {
		version, err := a.version(ctx, dir, tool)
		if err != nil {
			return "", err
		}
		parts = append(parts, tool+"="+version)
	}
	return strings.Join(parts, " "), nil
}

// tools are the executables that recipes need.
func (a *Adapter) tools() []string { return []string{"node", string(a.manager)} }

func (a *Adapter) version(ctx context.Context, dir, tool string) (string, error) {
	path, err := find(a.env, tool)
	if err != nil {
		return "", err
	}
	m := &a.manifest
	env := a.env.Strict(append(m.PassEnv[:len(m.PassEnv):len(m.PassEnv)], m.SteeringEnv...)...).With(m.SetEnv)
	out, errOut, res, err := proc.Output(ctx, proc.Spec{
		Argv: []string{path, "--version"}, Dir: dir, Env: env, Timeout: probeTimeout,
	}, probeOutput)
	switch {
	case err != nil:
		return "", err
	case res.Canceled:
		return "", context.Cause(ctx)
	case res.ExitCode == 127 || res.ExitCode == 126:
		// A version manager's shim has no such version.
		return "", &adapters.MissingTool{Tool: tool, Hint: lastLine(errOut)}
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

// find looks for a tool on env's PATH; the error says how to get it.
func find(env adapters.Environ, tool string) (string, error) {
	path, err := env.LookPath(tool)
	var missing *adapters.MissingTool
	if errors.As(err, &missing) {
		missing.Hint = adapters.Packages{
			Apt: "nodejs npm", Dnf: "nodejs npm", Zypper: "nodejs-default npm-default",
			Pacman: "nodejs npm", Apk: "nodejs npm", Brew: "node", Else: "see https://nodejs.org/en/download",
		}.Hint(env)
	}
	return path, err
}

// ToolchainBasis describes what decides ToolchainFingerprint: the executables, and
// where they are shims of a version manager, the versions that it chooses from
// and the files and variables that make it choose.
func (a *Adapter) ToolchainBasis(ctx context.Context, dir string) (string, error) {
	seen, err := a.seen.See(a.look)
	if err != nil || !seen.shims {
		return seen.basis, err
	}
	b := adapters.NewBasis(a.env)
	a.steering(b, dir)
	return seen.basis + b.String(), nil
}

// machine is what the fingerprint depends on in every directory.
type machine struct {
	basis string
	shims bool // some tool is one
}

func (a *Adapter) look() (machine, error) {
	b := adapters.NewBasis(a.env)
	b.Env("NODE_OPTIONS", "NODE_PATH")
	m := machine{}
	for _, tool := range a.tools() {
		path, err := find(a.env, tool)
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
			b.File(filepath.Join(filepath.Dir(filepath.Dir(real)), packageFile))
		}
		if root, ok := a.shimRoot(path, real); ok {
			m.shims = true
			choices(b, root, tool)
		}
	}
	m.basis = b.String()
	return m, nil
}

// shimRoot tells whether a tool is a shim (nodenv, asdf, mise, volta, corepack)
// and where its version manager lives.
func (a *Adapter) shimRoot(path, real string) (root string, ok bool) {
	switch {
	case filepath.Base(filepath.Dir(path)) == "shims":
		return filepath.Dir(filepath.Dir(path)), true
	case filepath.Base(real) == "volta-shim":
		if home := a.env.Get("VOLTA_HOME"); home != "" {
			return home, true
		}
		return filepath.Join(a.env.Get("HOME"), ".volta"), true
	case strings.Contains(real, "/corepack/"):
		if home := a.env.Get("COREPACK_HOME"); home != "" {
			return home, true
		}
		return filepath.Join(a.env.Get("HOME"), ".cache", "node", "corepack"), true
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
		"v1/" + tool + "/*/" + packageFile,    // corepack
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
func (a *Adapter) steering(b *adapters.Basis, dir string) {
	b.Env("NODENV_VERSION", "ASDF_NODEJS_VERSION", "MISE_NODE_VERSION", "MISE_ENV", "VOLTA_FEATURE_PNPM")
	b.Above(dir, ".node-version", ".nvmrc", ".tool-versions", "mise.toml", ".mise.toml", packageFile)
	b.Home(".tool-versions", filepath.Join(".config", "mise", "config.toml"))
}
