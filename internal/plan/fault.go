package plan

import (
	"fmt"
	"slices"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
)

// Fault returns the reason why t cannot run with any files: its dish's Failure, or an
// *adapters.Failure of the plugin that declares its recipe. It returns nil for a task that can run.
func (t *Task) Fault() error {
	if t.fault != nil {
		return t.fault
	}
	return t.Dish.Failure
}

// byPlugin reports whether w is in a recipe of a plugin.
func (w *want) byPlugin(t *Task) bool {
	_, process := t.Dish.Adapter.(adapters.Starter)
	return process && w.at.File == ""
}

// blame makes t fail because of w in a plugin's recipe. It reports this once per plugin, and only
// the tasks that wait for t fail too.
func (b *builder) blame(t *Task, w want, expected, hint string) {
	if t.fault != nil || t.Dish.Failure != nil { // the failure is reported elsewhere
		return
	}
	m := t.Dish.Adapter.Manifest()
	f := &adapters.Failure{
		Code: adapters.MalformedResponse, Adapter: m.AdapterID, Call: "initialize",
		Message: fmt.Sprintf("manifest: default_tasks%s for %s: expected %s", t.member(w), t.ID(), expected),
		Hint:    "bento plugin test " + m.AdapterID + " shows whether the plugin is at fault: report that to its author, or list it under [plugins] disable",
	}
	if m.Capabilities.Tasks {
		f.Call, f.Dir = "tasks", t.Dish.Dir
		f.Message = fmt.Sprintf("result: tasks%s for %s: expected %s", t.member(w), t.ID(), expected)
	}
	if hint != "" {
		f.Hint = hint + "\n" + f.Hint
	}
	t.fault = f
	if b.blamed[m.AdapterID] {
		return
	}
	b.blamed[m.AdapterID] = true
	place := diagnostics.Diagnostic{File: t.Dish.Path}
	if t.Dish.Config != nil {
		place = at(t.Dish.Config.Pos)
	}
	b.problem(diagnostics.Warning, place, string(f.Code), f.Error(), f.Hint)
}

// member returns the recipe of its dish with w in t's field, "" for none.
func (t *Task) member(w want) string {
	for i, recipe := range t.Dish.Tasks {
		if j := slices.Index(recipe.DependsOn, w.text); recipe.Name == t.Name && j >= 0 {
			return fmt.Sprintf("[%d].depends_on[%d]", i, j)
		}
	}
	return ""
}

// across is a task that a plugin's recipe waits for by the name of a dish. The recipes of one dish
// are known to have no cycle.
type across struct {
	task, on *Task
	by       want
}

// checkAcross makes the recipes of plugins fail that close a cycle. A failed task has no
// dependencies, so plugins cause no cycle that is left.
func (b *builder) checkAcross() {
	if len(b.across) > 0 {
		ring := make([]int, len(b.tasks))
		for i, component := range graphOf(b.tasks).Components() {
			for _, n := range component {
				ring[n] = i
			}
		}
		for _, a := range b.across {
			if ring[a.task.Index] == ring[a.on.Index] {
				b.blame(a.task, a.by, fmt.Sprintf("a task that does not wait for %q, got %q", a.task.ID(), a.by.text), "")
			}
		}
	}
	for _, t := range b.tasks {
		if t.fault != nil {
			t.Deps = nil // its dependencies need not run
		}
	}
}
