package environment

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/pattern"
	"github.com/bentobuild/bento/internal/proc"
)

// The bounds of a question to a tool.
const (
	probeTimeout = 60 * time.Second
	probeOutput  = 64 << 10
)

// versionLine is the line in which uv and poetry tell their version; warnings may
// come before it.
var versionLine = pattern.New(`(?m)^(?:Poetry \(version |uv )(\d[^\s)]*)`)

// Version asks uv or poetry for its version.
func Version(ctx context.Context, env adapters.Environ, dir, tool string) (string, error) {
	out, err := Ask(ctx, env, dir, tool, "--version")
	if err != nil {
		return "", err
	}
	m := versionLine.FindStringSubmatch(out)
	if m == nil {
		return "", fmt.Errorf("%q in %q gave no version: %.200q", tool+" --version", dir, out)
	}
	return m[1], nil
}

// Ask runs uv or poetry in dir and gives what it prints; the error of one that
// refuses is a *Refusal.
func Ask(ctx context.Context, env adapters.Environ, dir string, tool string, args ...string) (string, error) {
	path, err := FindTool(env, tool)
	if err != nil {
		return "", err
	}
	out, errOut, res, err := proc.Output(ctx, proc.Spec{
		Argv: append([]string{path}, args...), Dir: dir, Env: env, Timeout: probeTimeout,
	}, probeOutput)
	switch {
	case err != nil:
		return "", err
	case res.Canceled:
		return "", context.Cause(ctx)
	case res.ExitCode == 127 || res.ExitCode == 126:
		// The shim of a version manager has no such tool.
		return "", &adapters.MissingTool{Tool: tool, Hint: strings.TrimSpace(string(errOut))}
	case res.ExitCode != 0:
		return "", &Refusal{Command: Quoted(append([]string{tool}, args...)), Dir: dir, ExitStatus: res.ExitCode, Said: strings.TrimSpace(strings.ToValidUTF8(string(errOut), "\uFFFD"))}
	}
	return string(out), nil
}

// Refusal is the error of a tool that was asked and did not answer.
type Refusal struct {
	Command    string
	Dir        string
	ExitStatus int
	Said       string
}

func (r *Refusal) Error() string {
	return fmt.Sprintf("%q in %q exited with status %d: %s", r.Command, r.Dir, r.ExitStatus, r.Said)
}
