package node

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/node/project"
	"github.com/bentobuild/bento/adapters/node/tsconfig"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/jsonfile"
)

// Tasks returns a recipe for each script of package.json. Those named build, check, lint
// and test, or by an alias of these, are lifecycle tasks; the others are scripts.
func (a *Adapter) Tasks(ctx context.Context, dir string) (adapters.TasksAnswer, error) {
	f := a.Files(dir)
	p, err := a.Open(f)
	if err != nil {
		return adapters.TasksAnswer{}, err
	}
	// The Reads of the answer must cover Detect and RequiredToolchain too.
	a.Decide(f)
	_, _ = a.pins.Of(f, p)
	ans := adapters.TasksAnswer{Aggregate: p.Aggregate() != nil}
	if ans.Aggregate {
		ans.Members = a.Members(f, p.Aggregate())
	}
	r := recipes{Project: p, dialect: &a.dialect, shared: a.sharedBy(f, p), ts: tsconfig.Read(f), files: f, names: a.scripts}
	ans.Tasks = r.tasks()
	tested := slices.ContainsFunc(ans.Tasks, func(t adapters.Task) bool { return t.Name == "test" })
	if a.manager == project.Bun && !ans.Aggregate && p.Script("test").Line == 0 && !tested && hasTests(f) {
		ans.Tasks = append(ans.Tasks, r.bunTest())
	}
	if !ans.Aggregate {
		ans.Warnings = append(ans.Warnings, r.unmapped(ans.Tasks)...)
	}
	ans.Reads = f.Reads()
	return ans, nil
}

// recipes makes the tasks of one package.
type recipes struct {
	*project.Project
	dialect *dialect
	shared  shared
	ts      tsconfig.Config
	files   *snapshot.Files
	names   snapshot.Scripts
}

// unmapped reports scripts that look like lifecycle tasks and are none. Those that turbo runs count first.
func (r *recipes) unmapped(tasks []adapters.Task) []diagnostics.Diagnostic {
	var scripts []snapshot.Script
	for _, s := range r.Scripts {
		scripts = append(scripts, snapshot.Script{Name: s.Name, File: r.Project.Path, Line: s.Line})
	}
	return r.names.Unmapped(scripts, tasks, turboTasks(r.files, r.Scope()))
}

// turboTasks returns the names of the tasks in the turbo.json of a workspace. A malformed file has none:
// turbo reports it.
func turboTasks(f *snapshot.Files, root string) []string {
	path := filepath.Join(root, "turbo.json")
	data, err := f.ReadIfExists(path)
	if data == nil || err != nil {
		return nil
	}
	doc, err := jsonfile.ParseLoose(path, data)
	if err != nil {
		return nil
	}
	var names []string
	for _, table := range []string{"tasks", "pipeline"} {
		for _, m := range doc.Get(table).Members() {
			names = append(names, m.Name[strings.LastIndexByte(m.Name, '#')+1:])
		}
	}
	return names
}

// tasks returns the scripts that can be tasks: each under its name, and those that stand for
// a missing check, lint or test also under that name.
func (r *recipes) tasks() []adapters.Task {
	var tasks []adapters.Task
	add := func(name string, s jsonfile.Entry) bool {
		ok := s.Line > 0 && adapters.IsTaskName(s.Name) && !snapshot.IsStubTest(s.Name, s.Value)
		if ok {
			tasks = append(tasks, r.task(name, s))
		}
		return ok
	}
	for _, s := range r.Scripts {
		add(s.Name, s)
	}
	for _, name := range adapters.Lifecycle() {
		if s := r.Script(name); s.Line > 0 && !snapshot.IsStubTest(name, s.Value) {
			continue
		}
		for _, alias := range r.names.Aliases(name) {
			if s := r.Script(alias); r.names.Stands(name, alias, s.Value) && add(name, s) {
				break
			}
		}
	}
	return tasks
}

// task returns the task of a name that runs the script s.
func (r *recipes) task(name string, s jsonfile.Entry) adapters.Task {
	t := adapters.Task{
		Name:   name,
		Run:    r.dialect.run(s.Name),
		Body:   s.Value,
		Path:   r.path(),
		Script: !adapters.IsLifecycle(name),
	}
	t.ExtraInputs = r.shared.inputs(name, r.ts.Above)
	if t.Script {
		// Its effects outside the dish are unknown.
		t.NoCache, t.SideEffects, t.Server = true, true, snapshot.IsServer(name)
		return t
	}
	switch name {
	case "build":
		t.Outputs, t.Near = r.outputs(), r.near()
	case "test":
		if build := r.Script("build"); build.Line > 0 {
			t.DependsOn = []string{"build"}
		}
	}
	return t
}

// path returns the directories of installed commands, the nearer first.
func (r *recipes) path() []string {
	bin := filepath.Join("node_modules", ".bin")
	dirs := []string{bin}
	if r.IsMember() {
		if rel, err := filepath.Rel(r.Dir, r.Scope()); err == nil {
			dirs = append(dirs, filepath.Join(rel, bin))
		}
	}
	return dirs
}
