package key

import (
	"errors"
	"fmt"

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
	for _, ev := range e.results() {
		if ev == nil || ev.Status == Hit || ev.Task.Held {
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
			problems = append(problems, UnmetPins(e.o.Root, d, ev.Toolchain)...)
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

// missingTool returns the missing tool of a result, nil when none is missing.
func (ev *Result) missingTool() *adapters.MissingTool {
	var m *adapters.MissingTool
	if errors.As(ev.Err, &m) {
		return m
	}
	return nil
}
