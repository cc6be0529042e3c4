package deno

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/deno/denojson"
	"github.com/bentobuild/bento/adapters/deno/imports"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/internal/jsonfile"
)

// Tasks returns a recipe for each task of deno.json, and for each script of a package.json
// beside it, which "deno task" runs too. Those named build, check, lint and test keep their
// names; the others are scripts. Where build, lint or test is missing, Deno's own command
// takes its place if the project has files for it.
func (a *Adapter) Tasks(ctx context.Context, dir string) (adapters.TasksAnswer, error) {
	f := a.Files(dir)
	p, err := a.open(f)
	if err != nil {
		return adapters.TasksAnswer{}, err
	}
	// The Reads of the answer must cover Detect and RequiredToolchain too.
	f.IsFile("deno.lock")
	isPackage := a.isPackage(f)
	_, _ = a.pin(f, p)
	ans := adapters.TasksAnswer{Aggregate: p.isAggregate(), Members: a.membersOf(f, p.Config)}
	tasks, err := withScripts(f, p)
	if err != nil {
		return adapters.TasksAnswer{}, err
	}
	r := recipes{project: p, tasks: tasks, inputs: above(f, p), names: a.scripts}
	for _, t := range tasks {
		if adapters.IsTaskName(t.Name) {
			ans.Tasks = append(ans.Tasks, r.declared(t.Name, t))
		}
	}
	ans.Tasks = append(ans.Tasks, r.aliased()...)
	if !ans.Aggregate && !isPackage { // a package of Node.js has the tasks that it names
		ans.Tasks = append(ans.Tasks, r.own(imports.In(f, isDerived))...)
	}
	if !ans.Aggregate {
		ans.Warnings = r.names.Unmapped(r.scripts(f), ans.Tasks, nil)
	}
	ans.Reads = f.Reads()
	return ans, nil
}

// scripts returns the places of the tasks of deno.json and of the scripts.
func (r *recipes) scripts(f *snapshot.Files) []snapshot.Script {
	var list []snapshot.Script
	for _, t := range r.tasks {
		s := snapshot.Script{Name: t.Name, File: f.Path("package.json"), Line: t.Line}
		if r.Task(t.Name).Line > 0 {
			s.File = r.Path
		}
		list = append(list, s)
	}
	return list
}

// withScripts returns the tasks of deno.json, and the scripts of package.json with other
// names.
func withScripts(f *snapshot.Files, p *project) ([]jsonfile.Entry, error) {
	path := f.Path("package.json")
	data, err := f.ReadIfExists(path)
	if data == nil || err != nil {
		return p.Tasks, err
	}
	scripts, err := denojson.ParseScripts(path, data)
	tasks := slices.Clone(p.Tasks)
	for _, s := range scripts {
		if p.Task(s.Name).Line == 0 {
			tasks = append(tasks, s)
		}
	}
	return tasks, err
}

// recipes makes the tasks of one project.
type recipes struct {
	*project
	tasks  []jsonfile.Entry
	inputs []string
	names  snapshot.Scripts
}

// declared returns the task of a name that runs a task of deno.json or a script.
func (r *recipes) declared(name string, t jsonfile.Entry) adapters.Task {
	task := adapters.Task{
		Name: name, Run: "deno task " + adapters.Quote(t.Name), Body: cmp.Or(t.Value, "deno task"), ExtraInputs: r.inputs,
		Script: !adapters.IsLifecycle(name),
	}
	switch {
	case task.Script:
		// Its effects outside the dish are unknown.
		task.NoCache, task.SideEffects, task.Server = true, true, snapshot.IsServer(name)
	case name == "build":
		task.Outputs = []string{"dist/**"}
	}
	return task
}

// aliased returns a check, lint and test where only a script of package.json with another
// name stands for it.
func (r *recipes) aliased() (tasks []adapters.Task) {
	for _, name := range adapters.Lifecycle() {
		if r.has(name) {
			continue
		}
		for _, alias := range r.names.Aliases(name) {
			i := slices.IndexFunc(r.tasks, func(e jsonfile.Entry) bool { return e.Name == alias })
			named := slices.Contains(r.names[name], alias)
			if i >= 0 && (named || r.Task(alias).Line == 0) && r.names.Stands(name, alias, r.tasks[i].Value) {
				tasks = append(tasks, r.declared(name, r.tasks[i]))
				break
			}
		}
	}
	return tasks
}

// has reports whether deno.json or package.json declares a task of that name.
func (r *recipes) has(name string) bool {
	return slices.ContainsFunc(r.tasks, func(e jsonfile.Entry) bool { return e.Name == name })
}

// plain is the environment of commands that run none of the project's code: Deno colours its
// output outside of a terminal too. The project's own programs and tests may look at NO_COLOR.
func plain() map[string]string { return map[string]string{"NO_COLOR": "1"} }

// own returns the recipes that run Deno's own commands.
func (r *recipes) own(m imports.Modules) []adapters.Task {
	var tasks []adapters.Task
	aliased := r.aliased()
	add := func(there bool, t adapters.Task) {
		if there && !r.has(t.Name) && !slices.ContainsFunc(aliased, func(a adapters.Task) bool { return a.Name == t.Name }) {
			t.ExtraInputs = r.inputs
			tasks = append(tasks, t)
		}
	}
	add(len(m.Files) > 0, adapters.Task{Name: "build", Run: "deno check .", Env: plain()})
	add(m.Tests, adapters.Task{Name: "test", Run: r.testCommand()})
	add(len(m.Files) > 0, adapters.Task{Name: "lint", Run: "deno lint", Env: plain()})
	add(m.Benches, adapters.Task{Name: "bench", Run: "deno bench", Script: true, NoCache: true, SideEffects: true})
	add(len(m.Files) > 0, adapters.Task{Name: "format", Run: "deno fmt", Script: true, NoCache: true, SideEffects: true})
	return tasks
}

// isDerived reports whether a directory holds files that tools wrote.
func isDerived(dir string) bool {
	name := filepath.Base(dir)
	return name == "dist" || name == "coverage"
}

// above returns the files above a member that its tasks depend on: manifests, lockfile and
// settings of the workspace.
func above(f *snapshot.Files, p *project) []string {
	if !p.isMember() {
		return nil
	}
	files := []string{p.root.Path}
	for _, name := range []string{"package.json", ".npmrc"} {
		if path := filepath.Join(p.scope(), name); f.IsFile(path) {
			files = append(files, path)
		}
	}
	for _, path := range []string{p.root.Lock, p.root.ImportMap} {
		if path != "" {
			files = append(files, path)
		}
	}
	return files
}
