package deno

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/internal/probe"
	"github.com/bentobuild/bento/internal/semver"
)

// RequiredToolchain implements adapters.Adapter: the version in .deno-version or .dvmrc, in
// "deno" of deno.json, or in .tool-versions. Deno itself reads none of them.
func (a *Adapter) RequiredToolchain(ctx context.Context, dir string) (*adapters.Toolchain, error) {
	f := a.Files(dir)
	p, err := a.open(f)
	if err != nil {
		return nil, err
	}
	return a.pin(f, p)
}

func (a *Adapter) pin(f *snapshot.Files, p *project) (*adapters.Toolchain, error) {
	for _, name := range []string{".deno-version", ".dvmrc"} {
		pin, err := f.VersionFile(tool, name)
		if err != nil {
			return nil, err
		}
		if pin != nil && isVersion(pin.Version) {
			return checked(pin)
		}
	}
	if isVersion(p.Deno.Value) {
		return checked(&adapters.Toolchain{Tool: tool, Version: p.Deno.Value, File: p.Path, Line: p.Deno.Line})
	}
	pin, err := f.ToolVersions(tool, tool)
	if pin == nil || err != nil {
		return nil, err
	}
	return checked(pin)
}

// isVersion reports whether text requires a version; "latest" does not.
func isVersion(text string) bool {
	switch strings.ToLower(text) {
	case "", "*", "latest", "stable", "lts", "canary", "rc":
		return false
	}
	return true
}

// checked refuses a pin that is not a range, so that bento reports it before anything runs.
func checked(pin *adapters.Toolchain) (*adapters.Toolchain, error) {
	if _, err := semver.ParseRange(pin.Version); err != nil {
		return nil, pin.Malformed(pin.File, err, `write a version or a range, such as "2.1.4" or "^2.1"`)
	}
	return pin, nil
}

// CheckPin implements adapters.PinChecker.
func (a *Adapter) CheckPin(want adapters.Toolchain, fingerprint string) adapters.Verdict {
	_, rest, _ := strings.Cut(fingerprint, "deno=")
	found, _, _ := strings.Cut(rest, " ")
	v, err := semver.Parse(found)
	if err != nil {
		return adapters.Verdict{OK: true, Found: found}
	}
	c, err := semver.ParseRange(want.Version)
	if err != nil {
		return adapters.Verdict{Found: found, Hint: err.Error()}
	}
	verdict := adapters.Verdict{OK: c.Has(v), Found: found}
	if !verdict.OK {
		verdict.Hint = fmt.Sprintf("install it with %q, or change the pin", "npm install -g deno@"+want.Version)
	}
	return verdict
}

// find returns the path of Deno in env's PATH; the error says how to install it.
func find(env adapters.Environ) (string, error) {
	path, err := env.LookPath(tool)
	return path, missing(err, env)
}

// missing adds how to install Deno.
func missing(err error, env adapters.Environ) error {
	return adapters.Packages{Pacman: "deno", Apk: "deno", Brew: "deno", Else: `install it with "npm install -g deno"`}.Missing(err, env)
}

// asked returns "deno=… v8=… typescript=…" of the Deno that dir gets.
func (a *Adapter) asked(ctx context.Context, at probe.At) (string, error) {
	path, err := find(a.env)
	if err != nil {
		return "", err
	}
	output, err := a.asker.Ask(ctx, probe.DenoVersion, at.Of(path))
	if err != nil {
		return "", err
	}
	return versions(path, output.Out)
}

// versions returns the lines "name version …" and leaves out the rest.
func versions(path, out string) (string, error) {
	var parts []string
	for line := range strings.Lines(out) {
		fields := strings.Fields(line)
		if len(fields) < 2 {
			continue
		}
		switch fields[0] {
		case "deno", "v8", "typescript":
			parts = append(parts, fields[0]+"="+fields[1])
		}
	}
	text := strings.Join(parts, " ")
	if !strings.HasPrefix(text, "deno=") {
		return "", fmt.Errorf("%q printed no version: %.200q", path+" --version", out)
	}
	return text, nil
}

// machine is the part of the basis that all directories share.
type machine struct {
	basis string
	shim  bool
}

// ToolchainBasis implements adapters.Steerer: the executable, and for a shim of a version
// manager also the installed versions and the files that choose between them.
func (a *Adapter) ToolchainBasis(ctx context.Context, dir string) (string, error) {
	seen, err := a.seen.See(a.Source, a.look)
	if err != nil || !seen.shim {
		return seen.basis, err
	}
	b := probe.NewBasis(a.env)
	b.Env("ASDF_DENO_VERSION", "MISE_DENO_VERSION", "MISE_ENV")
	b.Above(dir, append(probe.ManagerFiles(), ".deno-version", ".dvmrc")...)
	b.Home(".tool-versions", filepath.Join(".config", "mise", "config.toml"))
	return seen.basis + b.String(), nil
}

func (a *Adapter) look() (machine, error) {
	path, err := find(a.env)
	if err != nil {
		return machine{}, err
	}
	b := probe.NewBasis(a.env)
	b.File(path)
	m := machine{shim: filepath.Base(filepath.Dir(path)) == "shims"}
	if m.shim {
		found, _ := filepath.Glob(filepath.Join(filepath.Dir(filepath.Dir(path)), "installs", "deno", "*", "bin", tool))
		for _, f := range found {
			b.File(f)
		}
	}
	m.basis = b.String()
	return m, nil
}
