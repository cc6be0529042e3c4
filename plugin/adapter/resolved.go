package adapter

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/probe"
	"github.com/bentobuild/bento/internal/semver"
	"github.com/bentobuild/bento/plugin/host"
	"github.com/bentobuild/bento/plugin/wire"
)

// versionLine starts the fingerprint of a toolchain whose version is known.
const versionLine = "version "

// toolchainOf is a question about the toolchain: the directory, "" for all, and whether a run asks.
type toolchainOf struct {
	dir   string
	inRun bool
}

// ToolchainFingerprint implements adapters.Adapter. Without the capability resolved_toolchain the
// protocol has one answer for all directories.
func (p *Process) ToolchainFingerprint(ctx context.Context, dir string) (string, error) {
	return p.toolchainAt(ctx, probe.At{Dir: dir})
}

// ToolchainAtRun implements adapters.LateTeller: the tool of the manifest's exec may be one of the
// workspace.
func (p *Process) ToolchainAtRun(ctx context.Context, req adapters.RunRequest) (string, error) {
	return p.toolchainAt(ctx, probe.At{Dir: req.Dir, Leave: req.Leave()})
}

func (p *Process) toolchainAt(ctx context.Context, at probe.At) (string, error) {
	c := p.manifest.Capabilities
	if !c.ResolvedToolchain && !c.ResolvedToolchainFingerprint {
		return "", nil
	}
	of := toolchainOf{inRun: at.Leave.Given()}
	if at.Dir = filepath.Clean(cmp.Or(at.Dir, p.o.Root)); c.ResolvedToolchain || len(p.manifest.Exec) > 0 {
		of.dir = at.Dir
	}
	return p.resolution.get(ctx, of, func() (string, error) {
		if c.ResolvedToolchain {
			return p.resolved(ctx, at)
		}
		var text string
		err := p.askToolchain(ctx, host.Call{Method: wire.MethodFingerprint}, at, &text)
		return text, err
	})
}

// resolved asks which toolchain the tasks of a directory get. The fingerprint has the version in
// its first line, for CheckPin.
func (p *Process) resolved(ctx context.Context, at probe.At) (string, error) {
	var r *adapters.ResolvedToolchain
	err := p.askToolchain(ctx, host.Call{Method: wire.MethodResolved, Params: wire.Toolchain{Dir: at.Dir}, Dir: at.Dir}, at, &r)
	if err != nil || r == nil {
		return "", err
	}
	return versionLine + r.Version + "\n" + r.Fingerprint, nil
}

// askToolchain is ask with the output of the manifest's exec command. A saved answer needs no process.
func (p *Process) askToolchain(ctx context.Context, c host.Call, at probe.At, into any) error {
	if len(p.manifest.Exec) == 0 {
		_, err := p.ask(ctx, c, into)
		return err
	}
	tool := p.asker.DeclaredBasis(p.manifest.Exec)
	if tool != "" && p.recall(c, tool, into) {
		return nil
	}
	output, err := p.exec(ctx, at)
	if err != nil {
		return err
	}
	c.Params = wire.Toolchain{Dir: c.Dir, Exec: output}
	_, err = p.askNow(ctx, c, tool, into)
	return err
}

// exec runs the command of the manifest's exec for a directory.
func (p *Process) exec(ctx context.Context, at probe.At) (*adapters.ExecOutput, error) {
	output, err := p.asker.AskDeclared(ctx, p.manifest.Exec, at)
	var missing *adapters.MissingTool
	if errors.As(err, &missing) && missing.Hint == "" {
		return nil, &adapters.MissingTool{Tool: missing.Tool, Hint: fmt.Sprintf("install %s; the plugin %s asks it for its version", missing.Tool, p.id)}
	}
	if err != nil {
		return nil, err
	}
	return &adapters.ExecOutput{Stdout: opening(output.Out), Stderr: opening(output.Err)}, nil
}

// maxSaid is how many bytes of each stream of a manifest's exec the plugin gets. A version needs no more.
const maxSaid = 16 << 10

// opening returns the start of a tool's output.
func opening(text string) string { return strings.ToValidUTF8(text[:min(len(text), maxSaid)], "") }

// asker returns the runner of the command of a manifest's exec.
func (o *Options) asker() *probe.Asker { return probe.New(o.Source, o.Tools) }

// CheckPin implements adapters.PinChecker. A pin of a plugin is a range in the syntax of npm,
// https://github.com/npm/node-semver#ranges. Without the capability, or for a version of another form, it
// compares nothing.
func (p *Process) CheckPin(want adapters.Toolchain, fingerprint string) adapters.Verdict {
	rest, ok := strings.CutPrefix(fingerprint, versionLine)
	found, _, _ := strings.Cut(rest, "\n")
	if !ok || !p.manifest.Capabilities.ResolvedToolchain || found == "" {
		return adapters.Verdict{OK: true, NotCompared: true, Hint: fmt.Sprintf("the plugin %s does not report the version (capability resolved_toolchain)", p.id)}
	}
	v := adapters.Verdict{Found: found}
	if v.OK, v.Hint = semver.Satisfies(found, want.Version); v.Hint != "" {
		v.OK, v.NotCompared = true, true
	} else if !v.OK {
		v.Hint = fmt.Sprintf("install %s %s, or change the pin", want.Tool, want.Version)
	}
	return v
}
