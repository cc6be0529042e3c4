package foreign

import (
	"path"
	"slices"
	"strings"

	"github.com/bentobuild/bento/internal/jsonfile"
)

// lerna reads lerna.json, which declares no tasks: lerna runs scripts, as bento does.
// https://lerna.js.org/docs/api-reference/configuration
func (r *reader) lerna() {
	top := r.json(r.top)
	for _, m := range top.v.Members() {
		p := located{top.file, m.Value}
		switch m.Name {
		case "$schema", "npmClient", "useWorkspaces", "lerna", "useNx":
		case "packages":
			// bento finds packages itself; a package that it does not find is a gap.
			for _, g := range r.strings(p, "packages") {
				if !strings.ContainsAny(g.v.Text(), "*?[{!") && r.dishes[path.Clean(g.v.Text())] == nil {
					r.gap(g, "packages", "%q is no dish; bento dish list --left-out says why", g.v.Text())
				}
			}
		case "version", "command", "changelog", "ignoreChanges", "granularPathspec":
			r.gap(p, m.Name, "bento makes no versions and publishes nothing")
		default:
			r.gap(p, m.Name, "bento has no such key")
		}
	}
}

// rush reads rush.json, common/config/rush/command-line.json and the rush-project.json of each
// project. https://rushjs.io/pages/configs/rush-project_json
func (r *reader) rush() {
	top := r.json(r.top)
	if top.v == nil {
		return
	}
	for _, m := range top.v.Members() {
		if p := (located{top.file, m.Value}); strings.HasSuffix(m.Name, "Version") || m.Name == "pnpmOptions" {
			r.gap(p, m.Name, "bento install uses the package manager and the lockfile of the package or its workspace")
		} else if m.Name != "projects" && m.Name != "$schema" {
			r.gap(p, m.Name, "bento has no such key")
		}
	}
	phases := r.phases(r.json("common/config/rush/command-line.json"))
	projects := top.get("projects")
	if projects.v.Kind() != 0 && projects.v.Kind() != jsonfile.Array {
		r.is(projects, "projects", jsonfile.Array)
	}
	for _, v := range projects.v.Items() {
		dir := path.Clean(v.Get("projectFolder").Text())
		if r.dishes[dir] == nil {
			r.gap(located{top.file, v}, "projects", "%q is no dish; bento dish list --left-out says why", v.Get("projectFolder").Text())
			continue
		}
		r.rushProject(dir, phases)
	}
}

// phases returns the dependencies of each operation of Rush, by name. It notes custom commands.
func (r *reader) phases(doc located) map[string]located {
	phases := make(map[string]located)
	for _, v := range doc.v.Get("phases").Items() {
		phases[operation(v.Get("name").Text())] = located{doc.file, v.Get("dependencies")}
	}
	for _, v := range doc.v.Get("commands").Items() {
		p, name := located{doc.file, v}, v.Get("name").Text()
		switch v.Get("commandKind").Text() {
		case "global":
			r.add(".", &Task{Name: name, From: name, at: p, Run: v.Get("shellCommand").Text(), Cache: ptr(false)})
		case "bulk", "phased":
			if !isLifecycle(name) {
				r.gap(p, "commands", "bento run %s runs the scripts of that name", name)
			}
		}
	}
	if v := doc.v.Get("parameters"); len(v.Items()) > 0 {
		r.gap(located{doc.file, v}, "parameters", "arguments are those of bento run TASK -- ARGS, for the named tasks")
	}
	return phases
}

// operation returns the name of the task for an operation, which is a phase or a command.
func operation(name string) string { return strings.TrimPrefix(name, "_phase:") }

func (r *reader) rushProject(dir string, phases map[string]located) {
	doc := r.json(path.Join(dir, "config/rush-project.json"))
	for _, m := range doc.v.Members() {
		if p := (located{doc.file, m.Value}); !slices.Contains([]string{"$schema", "operationSettings", "incrementalBuildIgnoredGlobs"}, m.Name) {
			r.gap(p, m.Name, "bento has no such key")
		}
	}
	seen := make(map[string]bool)
	for _, v := range doc.v.Get("operationSettings").Items() {
		p := located{doc.file, v}
		if name := v.Get("operationName").Text(); r.script(dir, name) == "" {
			r.gap(p, name, "%s has no script of this name", dishName(dir))
		} else if task := r.operation(dir, p, doc.get("incrementalBuildIgnoredGlobs")); !seen[task.Name] {
			seen[task.Name] = true
			task.DependsOn = r.upstream(dir, phases[operation(name)])
			r.add(dir, task)
		}
	}
	for _, name := range sorted(phases) {
		if script := r.script(dir, name); script != "" && !seen[script] && !seen[name] {
			r.add(dir, &Task{Name: script, From: name, at: phases[name], DependsOn: r.upstream(dir, phases[name])})
		}
	}
}

// script returns the script for an operation: _phase:build is the script of this name, or build.
func (r *reader) script(dir, name string) string {
	for _, s := range []string{name, operation(name), "_phase:" + name} {
		if r.has(dir, s) {
			return s
		}
	}
	return ""
}

// upstream maps the dependencies of a phase.
func (r *reader) upstream(dir string, p located) (list []string) {
	for _, on := range r.strings(p.get("self"), "dependencies.self") {
		if s := r.script(dir, on.v.Text()); s != "" {
			list = append(list, s)
		}
	}
	for _, on := range r.strings(p.get("upstream"), "dependencies.upstream") {
		if name := operation(on.v.Text()); name != "build" && r.someHas(name) {
			list = append(list, "^"+name) // builds of linked dishes come first anyway
		}
	}
	return list
}

// operation maps the settings of one operation.
func (r *reader) operation(dir string, p, ignored located) *Task {
	from := p.v.Get("operationName").Text()
	task := &Task{Name: r.script(dir, from), From: from, at: p}
	set := fileSet{all: true}
	for _, g := range r.strings(ignored, "incrementalBuildIgnoredGlobs") {
		if text, ok := anchor(dir, "!"+g.v.Text()); ok {
			set.add(text)
		}
	}
	for _, m := range p.v.Members() {
		v := located{p.file, m.Value}
		switch m.Name {
		case "operationName":
		case "outputFolderNames":
			for _, g := range r.strings(v, m.Name) {
				if text, ok := anchor(dir, strings.TrimSuffix(g.v.Text(), "/")+"/**"); ok {
					task.output(text)
				}
			}
		case "dependsOnEnvVars":
			for _, name := range r.strings(v, m.Name) {
				task.Env = append(task.Env, name.v.Text())
			}
		case "dependsOnAdditionalFiles":
			for _, g := range r.strings(v, m.Name) {
				if text, ok := anchor(dir, g.v.Text()); ok {
					set.add(text)
				} else {
					r.gap(g, m.Name, "%q is no path in the workspace", g.v.Text())
				}
			}
		case "disableBuildCacheForOperation":
			if off, _ := r.flag(v, m.Name); off {
				task.Cache = ptr(false)
			}
		default:
			r.gap(v, m.Name, "bento has no such key")
		}
	}
	task.Inputs = set.list()
	return task
}
