// Package interpreter finds the Python that answers in a directory, behind the
// shims of version managers, and compares it with the versions that projects pin.
package interpreter

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

// describe prints a fingerprint, behind a word that no warning begins with.
const describe = `import platform, sys, sysconfig
print("bento", "python=" + platform.python_version(), "implementation=" + sys.implementation.name,
	"abi=" + str(sysconfig.get_config_var("SOABI") or sys.implementation.cache_tag), "platform=" + sysconfig.get_platform())`

// locate prints the interpreter itself, where a shim stands before it, and where
// it is that of a virtual environment, which may be the one to be made anew, the
// one that this was made with.
const locate = `import sys
base = getattr(sys, "_base_executable", None) if sys.prefix != sys.base_prefix else None
print("bento", base or sys.executable)`

// None stands in a fingerprint for a version that could not be had.
const None = "none"

// Fingerprint gives version, implementation, ABI and platform of the interpreter
// that answers in dir, behind shims: "python=3.11.7 implementation=cpython …".
func Fingerprint(ctx context.Context, env adapters.Environ, dir string) (string, error) {
	path, err := Find(env)
	if err != nil {
		return "", err
	}
	return ask(ctx, env, dir, path, describe)
}

// FingerprintOf is Fingerprint for the interpreter at path.
func FingerprintOf(ctx context.Context, env adapters.Environ, dir, path string) (string, error) {
	return ask(ctx, env, dir, path, describe)
}

// Locate gives the path of the interpreter that answers in dir, behind shims and
// virtual environments.
func Locate(ctx context.Context, env adapters.Environ, dir string) (string, error) {
	path, err := Find(env)
	if err != nil {
		return "", err
	}
	return ask(ctx, env, dir, path, locate)
}

// ask runs a piece of Python in dir and gives what it prints.
func ask(ctx context.Context, env adapters.Environ, dir, path, code string) (string, error) {
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

// Find looks for Python 3 on env's PATH; the error says how to get it.
func Find(env adapters.Environ) (string, error) {
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
