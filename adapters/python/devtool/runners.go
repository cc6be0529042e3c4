package devtool

import (
	"slices"
	"strings"
	"unicode"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/python/pyproject"
)

// WithRunners adds to recipes the project's tasks for poethepoet and taskipy, where the
// project requires these and no recipe has the name. They are scripts.
func WithRunners(p *pyproject.Project, bin string, covers func(name string) bool, recipes []adapters.Task) []adapters.Task {
	tasks := recipes
	for _, r := range []struct{ name, command, table string }{
		{"poethepoet", "poe", "poe"},
		{"taskipy", "task", "taskipy"},
	} {
		if !covers(r.name) {
			continue
		}
		for _, name := range p.Keys("tool", r.table, "tasks") {
			taken := slices.ContainsFunc(tasks, func(t adapters.Task) bool { return t.Name == name })
			if taken || !isTaskName(name) {
				continue
			}
			tasks = append(tasks, adapters.Task{
				Name: name, Run: bin + "/" + r.command + " " + Quote(name), Script: true, NoCache: true, SideEffects: true,
			})
		}
	}
	return tasks
}

// isTaskName reports whether a name is one that users type: it leaves out private tasks of
// the runner.
func isTaskName(name string) bool {
	return name != "" && !strings.HasPrefix(name, "_") && !strings.HasPrefix(name, "-") &&
		strings.IndexFunc(name, unicode.IsControl) < 0
}
