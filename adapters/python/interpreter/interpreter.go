// Package interpreter finds the Python of a directory, behind the shims of version
// managers, and compares it with the versions that projects pin.
package interpreter

import (
	"context"
	"errors"
	"fmt"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/probe"
)

// None is the text for an unknown version in a fingerprint.
const None = "none"

// Fingerprint returns version, implementation, ABI and platform of the interpreter in
// at.Dir, behind shims: "python=3.11.7 implementation=cpython …".
func Fingerprint(ctx context.Context, asker *probe.Asker, at probe.At) (string, error) {
	return ask(ctx, asker, probe.PythonVersion, at)
}

// Locate returns the path of the interpreter in at.Dir, behind shims and virtual
// environments.
func Locate(ctx context.Context, asker *probe.Asker, at probe.At) (string, error) {
	return ask(ctx, asker, probe.PythonBase, at)
}

func ask(ctx context.Context, asker *probe.Asker, q probe.Question, at probe.At) (string, error) {
	output, err := asker.Ask(ctx, q, at)
	if err != nil {
		return "", err
	}
	answer, ok := output.Line(probe.Mark)
	if !ok {
		return "", fmt.Errorf("%q for %q printed no answer: %.200q", at.Path, at.Dir, output.Out)
	}
	return answer, nil
}

// Find returns the path of Python 3 in env's PATH; the error says how to install it.
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
