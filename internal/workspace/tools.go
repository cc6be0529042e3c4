package workspace

import (
	"context"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/dish"
)

// Tools are the tools of a workspace, open until Close. Close may be nil.
type Tools struct {
	ByID  map[string]*dish.Tool // also those with a Problem
	Close func()
}

// openTools opens the tools of a workspace if a task or a parser names one.
func (h *Host) openTools(ctx context.Context, w *Workspace, warn func(code, message, hint string)) (problems []diagnostics.Diagnostic) {
	if h.Tools != nil && slices.ContainsFunc(w.Dishes, usesTools) {
		w.tools, problems = h.Tools(ctx, w, warn)
		w.Tools = w.tools.ByID
	}
	return problems
}

// usesTools reports whether a task of a dish calls a tool, or a tool parses the output of a task.
func usesTools(d *dish.Dish) bool {
	if d.Config != nil && slices.ContainsFunc(d.Config.Tasks, func(t dish.TaskSettings) bool { return t.Tool.Text != "" || t.Parser.Text != "" }) {
		return true
	}
	if _, isPlugin := d.Adapter.(adapters.Starter); !isPlugin {
		return false // no built-in adapter names one
	}
	for _, hook := range d.Adapter.Manifest().DiagnosticHooks {
		if strings.HasPrefix(hook.Parser, adapters.ParserTool) {
			return true
		}
	}
	return false
}
