package config

import (
	"maps"
	"strings"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/tomlfile"
)

// toolchainTable is the schema of the table.
type toolchainTable struct {
	OnMissing     choice[missingWords]  `toml:"on_missing" default:"error" doc:"a tool that is not installed, or a program that PATH lacks and a task starts by its name, stops the run before it starts (exit 2). With skip, the tasks that need it, and those that depend on them, are left out; one warning names the tool"`
	OnMismatch    choice[mismatchWords] `toml:"on_mismatch" doc:"how a mismatch is reported. By default pins of bento's files, and those that the tool itself enforces, are errors; others are warnings"`
	AllowDownload tomlfile.At[bool]     `toml:"allow_download" default:"false" doc:"tools may fetch the versions that projects require; only in bento.toml"`
	UseSystem     *bool                 `toml:"use_system" default:"false" doc:"ignore all pins"`
	Pins          tomlfile.Map[pin]     `toml:"*" doc:"a pin: the required version of go, rust, python, node, or of the tool of the adapter with this id"`
}

type missingWords struct{}

func (missingWords) words() []string { return []string{"error", "skip"} }

type mismatchWords struct{}

func (mismatchWords) words() []string { return []string{"error", "warning"} }

// pin is a Pin, empty when it is faulty.
type pin dish.Pin

// Shape returns the schema.
func (*pin) Shape() tomlfile.Schema { return tomlfile.Schema{"type": "string", "minLength": 1} }

// UnmarshalTOML reads a version.
func (p *pin) UnmarshalTOML(v *tomlfile.Value) []diagnostics.Diagnostic {
	version, ok := v.Text()
	switch {
	case !ok:
		return []diagnostics.Diagnostic{v.Expected(`a version in quotes, such as "1.22"`)}
	case strings.TrimSpace(version) == "" || hasControl(version):
		return []diagnostics.Diagnostic{v.Pos().Error(diagnostics.RuleInvalid, "%s is %q, expected a version such as \"1.22\"", v.Path(), version)}
	}
	*p = pin{Version: strings.TrimSpace(version), Pos: v.Pos()}
	return nil
}

// over returns base with the values of t.
func (t toolchainTable) over(base dish.Toolchain) dish.Toolchain {
	out := base
	copied := false // base is shared
	for _, p := range t.Pins {
		if p.Value.Version == "" {
			continue
		}
		if !copied {
			out.Pins = make(map[string]dish.Pin, len(base.Pins)+len(t.Pins))
			maps.Copy(out.Pins, base.Pins)
			copied = true
		}
		out.Pins[p.Name] = dish.Pin(p.Value)
	}
	if t.OnMismatch.At.Given {
		out.OnMismatch = diagnostics.Severity(t.OnMismatch.At.Value)
	}
	if t.OnMissing.At.Given {
		out.SkipMissing = t.OnMissing.At.Value == "skip"
	}
	if t.AllowDownload.Given {
		out.AllowDownload = t.AllowDownload.Value
	}
	if t.UseSystem != nil {
		out.UseSystem = *t.UseSystem
	}
	return out
}
