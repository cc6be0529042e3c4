package python

import (
	"context"
	"slices"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/python/devtool"
	"github.com/bentobuild/bento/adapters/python/environment"
	"github.com/bentobuild/bento/adapters/python/interpreter"
	"github.com/bentobuild/bento/adapters/python/pyproject"
	"github.com/bentobuild/bento/adapters/snapshot"
)

// Tasks implements adapters.TaskLister: a build with a build system, a test where pytest is
// declared, a lint where ruff or flake8 is configured or declared, and a check where mypy
// is declared.
func (a *Adapter) Tasks(ctx context.Context, dir string) (adapters.TasksAnswer, error) {
	f := a.Files(dir)
	p, err := open(f)
	if err != nil {
		return adapters.TasksAnswer{}, err
	}
	// The Reads of the answer must cover RequiredToolchain too.
	interpreter.Pin(f, p.wants())
	configs := devtool.ConfigsAbove(f)
	tasks := devtool.WithRunners(p.Project, environment.Bin, p.covers, slices.Concat(p.build(), p.tools.Recipes(environment.Bin, environment.Dir)))
	for i := range tasks {
		t := &tasks[i]
		t.Path = []string{environment.Bin}
		t.Env = map[string]string{"VIRTUAL_ENV": environment.Dir}
		t.ExtraInputs = p.filesAbove()
		if t.Name != "build" {
			t.ExtraInputs = append(t.ExtraInputs, configs...)
		}
		slices.Sort(t.ExtraInputs)
	}
	warnings := p.warnings()
	if len(warnings) == 0 { // else that may be why pytest is missing
		warnings = a.scripts.Untested(tasks, func() snapshot.Untested { return p.tools.Untested(f) })
	}
	return adapters.TasksAnswer{Tasks: tasks, Wraps: p.Wraps(), Notes: p.notes(), Reads: f.Reads(), Warnings: warnings}, nil
}

func (p *project) build() []adapters.Task {
	t := adapters.Task{Name: "build", Outputs: []string{"dist/**"}, SkipsPrivate: true, Fetches: true} // what builds the package
	switch packaged, set := p.Flag("tool", "poetry", "package-mode"); {
	case !p.canBuild() || p.poetry && set && !packaged:
		return nil
	case p.poetry:
		t.Run = "poetry build --no-interaction --no-ansi"
		return []adapters.Task{t}
	}
	t.Run = environment.Bin + "/pip wheel --no-deps -w dist ."
	if p.UsesSetuptools() {
		t.Outputs = append(t.Outputs, pyproject.SetuptoolsOutputs()...)
	}
	return []adapters.Task{t}
}

// filesAbove returns the files outside the dish that decide the installed packages.
func (p *project) filesAbove() []string {
	var paths []string
	for _, file := range p.take {
		for _, path := range file.Files {
			if !adapters.Within(p.dir, path) {
				paths = append(paths, path)
			}
		}
	}
	normal, dev := p.asked()
	for _, r := range slices.Concat(normal, dev) {
		if r.IsArchive() && !adapters.Within(p.dir, r.Path) {
			paths = append(paths, r.Path)
		}
	}
	return paths
}
