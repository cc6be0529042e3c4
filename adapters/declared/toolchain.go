package declared

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/probe"
	"github.com/bentobuild/bento/internal/semver"
)

// RequiredToolchain implements adapters.Adapter.
func (a *Adapter) RequiredToolchain(_ context.Context, dir string) (*adapters.Toolchain, error) {
	if a.def.PinFile == "" {
		return nil, nil
	}
	f := a.Files(dir)
	data, err := f.ReadIfExists(a.def.PinFile)
	if data == nil || err != nil {
		return nil, err
	}
	text, expr := string(data), a.def.Pin
	if expr == "" {
		expr = `\S+`
	}
	version, at, ok := first(expr, text)
	if !ok {
		return nil, nil
	}
	return &adapters.Toolchain{Tool: a.def.Command[0], Version: version, File: f.Path(a.def.PinFile), Line: 1 + strings.Count(text[:at], "\n")}, nil
}

// first returns the first group of the first match, the whole match if it has no group, and where
// that begins.
func first(expr, text string) (word string, at int, ok bool) {
	re, err := regexp.Compile(expr)
	if err != nil {
		return "", 0, false // the definition was checked
	}
	m := re.FindStringSubmatchIndex(text)
	if len(m) > 2 && m[2] >= 0 {
		m = m[2:]
	}
	if m == nil {
		return "", 0, false
	}
	word = strings.TrimSpace(text[m[0]:m[1]])
	return word, m[0], word != ""
}

// ToolchainBasis implements adapters.Steerer.
func (a *Adapter) ToolchainBasis(_ context.Context, dir string) (string, error) {
	if len(a.def.Command) == 0 {
		return "", nil
	}
	b := probe.NewBasis(a.env)
	tool, err := b.Tool(a.def.Command[0])
	if err != nil {
		return "", a.missing(err)
	}
	if filepath.Base(filepath.Dir(tool)) == "shims" { // a version manager chooses
		b.Above(dir, append(probe.ManagerFiles(), "."+a.def.Command[0]+"-version")...)
		b.Home(".tool-versions", ".config/mise/config.toml", ".asdf/installs/"+a.def.Command[0], ".local/share/mise/installs/"+a.def.Command[0])
	}
	return b.String(), nil
}

// ToolchainFingerprint implements adapters.Adapter. Commands that only read start no program that a
// repository names.
func (a *Adapter) ToolchainFingerprint(context.Context, string) (string, error) {
	if len(a.def.Command) == 0 {
		return "", nil
	}
	if _, err := a.env.LookPath(a.def.Command[0]); err != nil {
		return "", a.missing(err)
	}
	return "", &adapters.KnownAtRun{Why: fmt.Sprintf("the workspace defines the command %q, which only a run starts", strings.Join(a.def.Command, " "))}
}

// ToolchainAtRun implements adapters.LateTeller: the version in the output of the command, or else
// all of it.
func (a *Adapter) ToolchainAtRun(ctx context.Context, req adapters.RunRequest) (string, error) {
	tool, err := a.env.LookPath(a.def.Command[0])
	if err != nil {
		return "", a.missing(err)
	}
	output, err := a.asker.AskNamed(ctx, req.Leave(), probe.At{Dir: req.Dir, Path: tool}, a.def.Command[1:]...)
	if err != nil {
		return "", a.missing(err)
	}
	text := output.Out + output.Err // some tools print their version to stderr
	if a.def.Version == "" {
		return strings.TrimSpace(text), nil
	}
	version, _, ok := first(a.def.Version, text)
	if !ok {
		return "", fmt.Errorf("%s: no version in its output %.100q: the adapter %s looks for %q", strings.Join(a.def.Command, " "), text, a.manifest.AdapterID, a.def.Version)
	}
	return versionLine + version, nil
}

// versionLine starts the fingerprint of a toolchain whose version is known.
const versionLine = "version "

// CheckPin implements adapters.PinChecker. A pin is a range as npm writes it.
func (a *Adapter) CheckPin(want adapters.Toolchain, fingerprint string) adapters.Verdict {
	found, ok := strings.CutPrefix(fingerprint, versionLine)
	if !ok {
		return adapters.Verdict{OK: true, NotCompared: true, Hint: fmt.Sprintf("the adapter %s defines no toolchain.version", a.manifest.AdapterID)}
	}
	v := adapters.Verdict{Found: found}
	if v.OK, v.Hint = semver.Satisfies(found, want.Version); v.Hint != "" {
		v.OK, v.NotCompared = true, true
	} else if !v.OK {
		v.Hint = cmp.Or(a.def.Hint, fmt.Sprintf("install %s %s, or change the pin", want.Tool, want.Version))
	}
	return v
}

// missing adds how to install the tool.
func (a *Adapter) missing(err error) error {
	var m *adapters.MissingTool
	if !errors.As(err, &m) || m.Hint != "" {
		return err
	}
	return &adapters.MissingTool{Tool: m.Tool, Hint: a.def.Hint}
}
