package evaluate

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/discovery"
)

// Preflight looks for what would make tasks fail that are not hits: tools that are
// missing, pins that are not met, inputs that cannot be read.
func (e *Evaluator) Preflight() []diagnostics.Diagnostic {
	var problems []diagnostics.Diagnostic
	seenTools := make(map[string]bool)
	seenDishes := make(map[*discovery.Dish]bool)
	for _, ev := range e.results {
		if ev == nil || ev.Status == Hit {
			continue
		}
		d := ev.Task.Dish
		if m := ev.missingTool(); m != nil {
			if !seenTools[m.Tool+d.Path] {
				seenTools[m.Tool+d.Path] = true
				problems = append(problems, missingTool(d, m))
			}
			continue
		}
		var unreadable diagnostics.Problems
		if errors.As(ev.Err, &unreadable) {
			for _, u := range unreadable {
				problems = append(problems, u)
			}
			continue
		}
		if d.Adapter != nil && ev.Toolchain != "" && !seenDishes[d] {
			seenDishes[d] = true
			problems = append(problems, e.UnmetPins(d, ev.Toolchain)...)
		}
	}
	return problems
}

func missingTool(d *discovery.Dish, m *adapters.MissingTool) diagnostics.Diagnostic {
	return diagnostics.Diagnostic{
		File: d.Path, Severity: diagnostics.Error, Rule: "missing_tool", Source: diagnostics.Source,
		Message: fmt.Sprintf("dish %q (%s) needs %s, which is not installed", d.Name, d.Adapter.Manifest().AdapterID, m.Tool),
		Hint:    m.Hint,
	}
}

// UnmetPins gives the pins of a dish that its toolchain does not meet.
func (e *Evaluator) UnmetPins(d *discovery.Dish, toolchain string) []diagnostics.Diagnostic {
	var problems []diagnostics.Diagnostic
	for _, p := range e.pins(d) {
		v := adapters.CheckPin(d.Adapter, p.Toolchain, toolchain)
		if v.OK {
			continue
		}
		problems = append(problems, diagnostics.Diagnostic{
			File: p.File, Line: p.Line, Col: p.col, Severity: pinSeverity(d, p), Rule: "toolchain_mismatch", Source: diagnostics.Source,
			Message: fmt.Sprintf("dish %q asks for %s %s, and %s is there", d.Name, p.Tool, p.Version, cmp.Or(v.Found, "nothing")),
			Hint:    v.Hint,
		})
	}
	return problems
}

// pin is a version that a dish asks for, and who says so.
type pin struct {
	adapters.Toolchain
	own bool // it stands in bento's own files
	col int
}

// pins lists what a dish asks for: what bento's own files say goes before what the
// project's say of the same tool.
func (e *Evaluator) pins(d *discovery.Dish) []pin {
	if d.Adapter == nil {
		return nil
	}
	settings := d.Toolchain
	if settings.UseSystem {
		return nil
	}
	var list []pin
	name := d.Adapter.Manifest().RuntimeName()
	if p, ok := settings.Pins[name]; ok {
		list = append(list, pin{own: true, col: p.Pos.Col, Toolchain: adapters.Toolchain{Tool: name, Version: p.Version, File: p.Pos.File, Line: p.Pos.Line}})
	} else if d.Pin != nil {
		list = append(list, pin{Toolchain: *d.Pin})
	}
	for i := 0; d.Pin != nil && i < len(d.Pin.More); i++ {
		list = append(list, pin{Toolchain: d.Pin.More[i]})
	}
	for i, p := range list {
		if rel, err := filepath.Rel(e.o.Root, p.File); err == nil && filepath.IsLocal(rel) {
			list[i].File = filepath.ToSlash(rel)
		}
	}
	return list
}

// pinSeverity tells how bad it is when a pin is not met: bento's own files are
// meant, and what the tool itself would refuse cannot work.
func pinSeverity(d *discovery.Dish, p pin) diagnostics.Severity {
	if s := d.Toolchain.OnMismatch; s != "" {
		return s
	}
	if p.own || p.Strict {
		return diagnostics.Error
	}
	return diagnostics.Warning
}

// missingTool gives the missing tool of a result, nil when none is missing.
func (ev *Result) missingTool() *adapters.MissingTool {
	var m *adapters.MissingTool
	if errors.As(ev.Err, &m) {
		return m
	}
	return nil
}
