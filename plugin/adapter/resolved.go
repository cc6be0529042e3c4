package adapter

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/semver"
	"github.com/bentobuild/bento/plugin/wire"
)

// versionLine starts the fingerprint of a toolchain whose version is known.
const versionLine = "version "

// resolved asks which toolchain the tasks of a directory get. The fingerprint has the version in
// its first line, for CheckPin.
func (p *Process) resolved(ctx context.Context, dir string) (string, error) {
	dir = filepath.Clean(dir)
	return p.resolution.get(ctx, dir, func() (string, error) {
		var r *adapters.ResolvedToolchain
		if _, err := p.ask(ctx, about(wire.MethodResolved, dir), &r); err != nil || r == nil {
			return "", err
		}
		return versionLine + r.Version + "\n" + r.Fingerprint, nil
	})
}

// CheckPin implements adapters.PinChecker. A pin of a plugin is a range as npm writes it,
// https://github.com/npm/node-semver#ranges. Without the capability, or for a version
// that has no such form, nothing is compared.
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
