package container

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/proc"
)

// engine is podman or docker on this machine.
type engine struct {
	Name     string
	path     string
	args     []string // in front of a subcommand
	env      adapters.Environ
	Version  string
	rootless bool // root in a container is bento's user
	alone    bool // of podman without root: bento's user has no further ids, so that a container has one user
	init     bool // it has a program for --init
}

// EngineError is the reason why no container can be started.
type EngineError struct {
	Reasons []string // one an engine
	Hint    string
}

// Error returns all reasons, and what to do.
func (e *EngineError) Error() string {
	return "no engine for containers answers: " + strings.Join(e.Reasons, "; ") + "; " + e.Hint
}

// askTime is the longest time of a question to an engine. A busy daemon takes seconds.
const askTime = time.Minute

// search returns the engine with a name, or the first that answers.
func (h *Host) search(ctx context.Context, name string) (*engine, error) {
	names := []string{"podman", "docker"}
	hint := "install podman or docker, and try podman info or docker info"
	if name != "" {
		names, hint = []string{name}, "try "+name+" info, or choose another engine"
	}
	var reasons []string
	for _, name := range names {
		e, err := h.try(ctx, name)
		if err == nil {
			return e, nil
		}
		reasons = append(reasons, name+": "+err.Error())
	}
	return nil, &EngineError{reasons, hint}
}

// try returns an engine that answers.
func (h *Host) try(ctx context.Context, name string) (*engine, error) {
	path, err := h.Environ.LookPath(name)
	if err != nil {
		return nil, errors.New("it is not installed")
	}
	e := &engine{Name: name, path: path, args: h.Settings.EngineArgs, env: h.Environ}
	what := "{{.Version.Version}} {{.Host.Security.Rootless}} {{len .Host.IDMappings.UIDMap}}"
	if name == "docker" {
		what = "{{.ServerVersion}} {{.SecurityOptions}}"
	}
	out, err := e.ask(ctx, "info", "--format", what)
	if err != nil {
		return nil, err
	}
	says := ""
	e.Version, says, _ = strings.Cut(strings.TrimSpace(out), " ")
	e.rootless = strings.HasPrefix(says, "true") || strings.Contains(says, "name=rootless")
	e.alone = says == "true 1"
	e.init = name == "docker" || slices.Contains(h.Settings.RunArgs, "--init-path") || hasInit(h.Environ)
	return e, nil
}

// hasInit reports whether the machine has the program that podman needs for --init, which some systems package apart.
func hasInit(env adapters.Environ) bool {
	for _, dir := range []string{"/usr/libexec/podman", "/usr/lib/podman", "/usr/local/libexec/podman", "/usr/local/lib/podman", "/usr/libexec/catatonit"} {
		if _, err := os.Stat(filepath.Join(dir, "catatonit")); err == nil {
			return true
		}
	}
	_, err := env.LookPath("catatonit")
	return err == nil
}

// command returns the words of a subcommand.
func (e *engine) command(words ...string) []string {
	return slices.Concat([]string{e.path}, e.args, words)
}

// ask runs a subcommand, and returns what it prints.
func (e *engine) ask(ctx context.Context, words ...string) (string, error) {
	var out, errs bytes.Buffer
	res, err := proc.Run(ctx, proc.Spec{
		Argv: e.command(words...), Dir: "/", Env: e.env, Stdout: bounded{&out}, Stderr: bounded{&errs}, Engine: true, Timeout: askTime,
	})
	switch {
	case err != nil:
		return "", err
	case res.Canceled:
		return "", context.Canceled
	case res.TimedOut:
		return "", fmt.Errorf("%s %s timed out after %v", e.Name, words[0], askTime)
	case res.ExitCode != 0:
		return out.String(), &refusal{said: lastLine(errs.String()), code: res.ExitCode}
	}
	return out.String(), nil
}

// refusal is the error of a subcommand that has failed.
type refusal struct {
	said string
	code int
}

func (r *refusal) Error() string {
	if r.said == "" {
		return fmt.Sprintf("exit status %d", r.code)
	}
	return r.said
}

// lastLine returns the last line of what an engine prints, without its usual beginning.
func lastLine(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	line := strings.TrimSpace(lines[len(lines)-1])
	for _, start := range []string{"Error: ", "docker: ", "Error response from daemon: ", "ERROR: "} {
		line = strings.TrimPrefix(line, start)
	}
	return line
}

// maxAnswer is the largest size of an answer that is read, in bytes.
const maxAnswer = 4 << 20

// bounded drops what is written behind maxAnswer.
type bounded struct{ *bytes.Buffer }

func (b bounded) Write(p []byte) (int, error) {
	if room := maxAnswer - b.Len(); room > 0 {
		b.Buffer.Write(p[:min(len(p), room)])
	}
	return len(p), nil
}
