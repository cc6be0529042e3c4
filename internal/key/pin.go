package key

import (
	"cmp"
	"fmt"
	"path/filepath"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/dish"
)

// UnmetPins returns the pins of a dish that its toolchain does not meet.
func UnmetPins(root string, d *dish.Dish, toolchain string) []diagnostics.Diagnostic {
	var problems []diagnostics.Diagnostic
	for _, p := range PinsOf(root, d) {
		if p.Refused != "" {
			problems = append(problems, p.refusal(d))
			continue
		}
		v := adapters.CheckPin(d.Adapter, p.Toolchain, toolchain)
		if v.OK {
			continue
		}
		problems = append(problems, diagnostics.Diagnostic{
			File: p.File, Line: p.Line, Col: p.col, Severity: p.Severity(d), Rule: "toolchain_mismatch", Source: diagnostics.Source,
			Message: fmt.Sprintf("dish %q requires %s %s, but found %s", d.Name, p.Tool, p.Version, cmp.Or(v.Found, "none")),
			Hint:    v.Hint,
			Dish:    d.Name, Alike: fmt.Sprintf("require %s %s, but found %s", p.Tool, p.Version, cmp.Or(v.Found, "none")),
		})
	}
	return problems
}

// RuleDownload is the rule of a pin for which a tool would fetch another tool.
const RuleDownload = "download_not_allowed"

// refusal returns the problem of a pin whose version bento may not fetch.
func (p Pin) refusal(d *dish.Dish) diagnostics.Diagnostic {
	text := fmt.Sprintf("%s %s, which may not be fetched (%s)", p.Tool, p.Version, p.Refused)
	return diagnostics.Diagnostic{
		File: p.File, Line: p.Line, Col: p.col, Severity: diagnostics.Error, Rule: RuleDownload, Source: diagnostics.Source,
		Message: fmt.Sprintf("dish %q requires %s", d.Name, text),
		Hint:    "allow it with [toolchain] allow_download = true in bento.toml, or require the version in a way that fetches nothing, such as .nvmrc or engines",
		Dish:    d.Name, Alike: "require " + text,
	}
}

// Pin is a version that a dish requires, and the file that requires it.
type Pin struct {
	adapters.Toolchain
	own bool // it is in bento's own files
	col int
}

// PinsOf returns the pins of a dish. A pin in bento's own files overrides the project's pin of the
// same tool.
func PinsOf(root string, d *dish.Dish) []Pin {
	if d.Adapter == nil {
		return nil
	}
	settings := d.Toolchain
	var list []Pin
	name := d.Adapter.Manifest().RuntimeName()
	if p, ok := settings.Pins[name]; ok && !settings.UseSystem {
		list = append(list, Pin{own: true, col: p.Pos.Col, Toolchain: adapters.Toolchain{Tool: name, Version: p.Version, File: p.Pos.File, Line: p.Pos.Line}})
	} else if d.Pin != nil {
		list = append(list, Pin{Toolchain: *d.Pin})
	}
	for i := 0; d.Pin != nil && i < len(d.Pin.More); i++ {
		list = append(list, Pin{Toolchain: d.Pin.More[i]})
	}
	for i, p := range list {
		if rel, err := filepath.Rel(root, p.File); err == nil && filepath.IsLocal(rel) {
			list[i].File = filepath.ToSlash(rel)
		}
	}
	return list
}

// Severity returns the severity of an unmet pin of d. It is an error if the pin is in bento's own
// files, or if the tool itself would refuse to work.
func (p Pin) Severity(d *dish.Dish) diagnostics.Severity {
	if s := d.Toolchain.OnMismatch; s != "" {
		return s
	}
	if p.own || p.Strict {
		return diagnostics.Error
	}
	return diagnostics.Warning
}
