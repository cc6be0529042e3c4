package config

import (
	"maps"
	"strings"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/tomlfile"
)

// Toolchain is the table [toolchain] of bento.toml, or that of a dish.toml on top
// of it.
type Toolchain struct {
	Pins map[string]Pin // by runtime: go, rust, node …, or an adapter's id
	// OnMismatch is Error or Warning. If it is empty, the pinning file decides.
	OnMismatch diagnostics.Severity
	// SkipMissing leaves out the tasks of a dish whose tool is not installed: on_missing = "skip".
	SkipMissing   bool
	AllowDownload bool
	UseSystem     bool // pins are ignored
}

// Pin is a required version.
type Pin struct {
	Version string
	Pos     Pos
}

// toolchainTable is the schema of the table: four keys and any number of pins.
type toolchainTable struct {
	pins          map[string]Pin
	onMismatch    tomlfile.At[string]
	onMissing     tomlfile.At[string]
	allowDownload tomlfile.At[bool]
	useSystem     *bool
}

func (t *toolchainTable) UnmarshalTOML(v *tomlfile.Value) (problems []diagnostics.Diagnostic) {
	if v.Kind() != tomlfile.Table {
		return []diagnostics.Diagnostic{v.Expected("a table")}
	}
	for _, name := range v.Keys() {
		child := v.Child(name)
		switch name {
		case "on_mismatch":
			problems = append(problems, child.Decode(&t.onMismatch)...)
			problems = append(problems, oneOf(t.onMismatch, "error", "warning")...)
		case "on_missing":
			problems = append(problems, child.Decode(&t.onMissing)...)
			problems = append(problems, oneOf(t.onMissing, "error", "skip")...)
		case "allow_download":
			problems = append(problems, child.Decode(&t.allowDownload)...)
		case "use_system":
			problems = append(problems, child.Decode(&t.useSystem)...)
		default:
			problems = append(problems, t.pin(child)...)
		}
	}
	return problems
}

func (t *toolchainTable) pin(v *tomlfile.Value) []diagnostics.Diagnostic {
	version, ok := v.Text()
	switch {
	case !ok:
		return []diagnostics.Diagnostic{v.Expected(`a version in quotes, such as "1.22"`)}
	case strings.TrimSpace(version) == "" || hasControl(version):
		return []diagnostics.Diagnostic{v.Pos().Error(RuleInvalid, "%s is %q, expected a version such as \"1.22\"", v.Path(), version)}
	}
	if t.pins == nil {
		t.pins = make(map[string]Pin)
	}
	t.pins[v.Name()] = Pin{Version: strings.TrimSpace(version), Pos: v.Pos()}
	return nil
}

// over returns t on top of base.
func (t toolchainTable) over(base Toolchain) Toolchain {
	out := base
	if len(t.pins) > 0 {
		out.Pins = make(map[string]Pin, len(base.Pins)+len(t.pins))
		maps.Copy(out.Pins, base.Pins)
		maps.Copy(out.Pins, t.pins)
	}
	if t.onMismatch.Given {
		out.OnMismatch = diagnostics.Severity(t.onMismatch.Value)
	}
	if t.onMissing.Given {
		out.SkipMissing = t.onMissing.Value == "skip"
	}
	if t.allowDownload.Given {
		out.AllowDownload = t.allowDownload.Value
	}
	if t.useSystem != nil {
		out.UseSystem = *t.useSystem
	}
	return out
}
