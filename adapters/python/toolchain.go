package python

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/proc"
)

// The bounds of a question to an interpreter.
const (
	probeTimeout = 30 * time.Second
	probeOutput  = 64 << 10
)

// describe prints what ToolchainFingerprint gives, behind a word that no warning
// begins with.
const describe = `import platform, sys, sysconfig
print("bento", "python=" + platform.python_version(), "implementation=" + sys.implementation.name,
	"abi=" + str(sysconfig.get_config_var("SOABI") or sys.implementation.cache_tag), "platform=" + sysconfig.get_platform())`

// locate prints the interpreter itself, where a shim stands before it, and where
// it is that of a virtual environment, which may be the one to be made anew, the
// one that this was made with.
const locate = `import sys
base = getattr(sys, "_base_executable", None) if sys.prefix != sys.base_prefix else None
print("bento", base or sys.executable)`

// ToolchainFingerprint gives version, implementation, ABI and platform of the
// interpreter that answers in dir, behind shims.
func (a *Adapter) ToolchainFingerprint(ctx context.Context, dir string) (string, error) {
	m := &a.manifest
	env := a.env.Strict(append(m.PassEnv[:len(m.PassEnv):len(m.PassEnv)], m.SteeringEnv...)...).With(m.SetEnv)
	return ask(ctx, env, dir, describe)
}

// ask runs a line of Python in dir and gives what it prints.
func ask(ctx context.Context, env adapters.Environ, dir, code string) (string, error) {
	path, err := find(env)
	if err != nil {
		return "", err
	}
	out, errOut, res, err := proc.Output(ctx, proc.Spec{
		Argv: []string{path, "-I", "-c", code}, Dir: dir, Env: env, Timeout: probeTimeout,
	}, probeOutput)
	switch {
	case err != nil:
		return "", err
	case res.Canceled:
		return "", context.Cause(ctx)
	case res.ExitCode == 127 || res.ExitCode == 126:
		// The shim of a version manager has no such version.
		return "", &adapters.MissingTool{Tool: filepath.Base(path), Hint: lastLine(errOut)}
	case res.ExitCode != 0:
		return "", fmt.Errorf("%q in %q exited with status %d: %s", path, dir, res.ExitCode, lastLine(errOut))
	}
	for line := range strings.Lines(string(out)) {
		if answer, ok := strings.CutPrefix(line, "bento "); ok {
			return strings.TrimSpace(answer), nil
		}
	}
	return "", fmt.Errorf("%q in %q gave no answer: %.200q", path, dir, out)
}

func lastLine(text []byte) string {
	lines := strings.Split(strings.TrimSpace(strings.ToValidUTF8(string(text), "\uFFFD")), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}

// find looks for Python 3 on env's PATH; the error says how to get it.
func find(env adapters.Environ) (string, error) {
	path, err := env.LookPath("python3")
	if err == nil {
		return path, nil
	}
	if path, other := env.LookPath("python"); other == nil {
		return path, nil
	}
	var missing *adapters.MissingTool
	if errors.As(err, &missing) {
		missing.Hint = adapters.Packages{
			Apt: "python3 python3-venv", Dnf: "python3", Zypper: "python3", Pacman: "python",
			Apk: "python3", Brew: "python", Else: "see https://www.python.org/downloads/",
		}.Hint(env)
	}
	return "", err
}

// ToolchainBasis describes what decides ToolchainFingerprint: the interpreter, and
// where that is the shim of a version manager, the interpreters that it chooses
// from and the files and variables that make it choose.
func (a *Adapter) ToolchainBasis(ctx context.Context, dir string) (string, error) {
	seen, err := a.seen.See(a.look)
	if err != nil || !seen.shim {
		return seen.basis, err
	}
	b := adapters.NewBasis(a.env)
	a.steering(b, dir)
	return seen.basis + b.String(), nil
}

// machine is what the fingerprint depends on in every directory.
type machine struct {
	basis string
	shim  bool // python3 is one
}

func (a *Adapter) look() (machine, error) {
	path, err := find(a.env)
	if err != nil {
		return machine{}, err
	}
	b := adapters.NewBasis(a.env)
	b.File(path)
	shim := filepath.Base(filepath.Dir(path)) == "shims"
	if shim {
		a.choices(b, filepath.Dir(filepath.Dir(path)))
	}
	return machine{b.String(), shim}, nil
}

// choices adds the interpreters among which pyenv, asdf and mise choose. root is
// the home of the version manager.
func (a *Adapter) choices(b *adapters.Basis, root string) {
	if home := a.env.Get("PYENV_ROOT"); home != "" {
		root = home
	}
	b.File(filepath.Join(root, "version"))
	for _, pattern := range []string{"versions/*/bin/python3", "installs/python/*/bin/python3"} {
		found, _ := filepath.Glob(filepath.Join(root, pattern))
		for _, path := range found {
			b.File(path)
		}
	}
	// A shim without a version of its own falls through to the rest of PATH.
	for _, dir := range filepath.SplitList(a.env.Get("PATH")) {
		if filepath.IsAbs(dir) {
			b.IfThere(filepath.Join(dir, "python3"))
		}
	}
}

// steering adds what version managers look for at and above dir, up to the root
// of the file system as they do, and at home.
func (a *Adapter) steering(b *adapters.Basis, dir string) {
	b.Env("PYENV_VERSION", "PYENV_ROOT", "PYENV_DIR", "ASDF_PYTHON_VERSION", "MISE_PYTHON_VERSION", "MISE_ENV")
	b.Above(dir, ".python-version", ".tool-versions", "mise.toml", ".mise.toml")
	b.Home(".tool-versions", filepath.Join(".config", "mise", "config.toml"))
}
