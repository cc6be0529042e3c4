package devtool

import (
	"slices"
	"strings"
	"unicode"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/python/pyproject"
)

// WithRunners adds to recipes the tasks that the project keeps in its manifest for poethepoet and
// taskipy, where it asks for these and no recipe has the
// name. They are reached by name only.
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

// isTaskName leaves out what the runner keeps to itself, and what no person types.
func isTaskName(name string) bool {
	return name != "" && !strings.HasPrefix(name, "_") && !strings.HasPrefix(name, "-") &&
		strings.IndexFunc(name, unicode.IsControl) < 0
}
