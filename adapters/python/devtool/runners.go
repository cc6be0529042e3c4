package devtool

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/python/pyproject"
)

// runner is a tool that runs tasks of pyproject.toml by name.
type runner struct {
	name    string   // of the package that brings the command
	table   []string // key of the table of tasks
	command string   // runs the task whose name follows
	// manages reports whether the tool is also the manager of projects: users have it installed
	// outside of them.
	manages bool
}

func runners() []runner {
	return []runner{
		{name: "poethepoet", table: []string{"tool", "poe", "tasks"}, command: "poe"},
		{name: "taskipy", table: []string{"tool", "taskipy", "tasks"}, command: "task"},
		{name: "pdm", table: []string{"tool", "pdm", "scripts"}, command: "pdm run", manages: true},
		{name: "hatch", table: []string{"tool", "hatch", "envs", "default", "scripts"}, command: "hatch run", manages: true},
	}
}

// WithRunners adds to recipes the project's tasks for poethepoet, taskipy, pdm and hatch, where
// the project requires the runner, or the runner manages projects, and no recipe has the name.
// They are scripts.
func WithRunners(p *pyproject.Project, bin string, covers func(name string) bool, recipes []adapters.Task) []adapters.Task {
	tasks := recipes
	for _, r := range runners() {
		command := r.command
		switch {
		case covers(r.name):
			command = bin + "/" + command
		case !r.manages:
			continue
		}
		for _, name := range p.Keys(r.table...) {
			taken := slices.ContainsFunc(tasks, func(t adapters.Task) bool { return t.Name == name })
			if taken || !isTaskName(name) {
				continue
			}
			run := command + " " + adapters.Quote(name)
			tasks = append(tasks, adapters.Task{
				Name: name, Run: run, Body: cmp.Or(r.body(p, name), run), Script: true, NoCache: true, SideEffects: true,
			})
		}
	}
	return tasks
}

// body returns the command of a task that is one, "" for others.
func (r runner) body(p *pyproject.Project, name string) string {
	key := append(slices.Clone(r.table), name)
	for _, entry := range []string{"cmd", "shell"} {
		if text := p.Text(append(slices.Clone(key), entry)...); text != "" {
			return text
		}
	}
	var commands []string
	for _, e := range p.List(key...) { // hatch: one command after another
		commands = append(commands, e.Value)
	}
	return cmp.Or(p.Text(key...), strings.Join(commands, " && "))
}

// isTaskName reports whether a name is one that users type: it leaves out private tasks of
// the runner.
func isTaskName(name string) bool {
	return name != "" && !strings.HasPrefix(name, "_") && !strings.HasPrefix(name, "-") &&
		strings.IndexFunc(name, unicode.IsControl) < 0
}
