package python

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/bentobuild/bento/adapters"
)

// The virtual environment and the directory of its commands, relative to the dish.
const (
	venv    = ".venv"
	venvBin = ".venv/bin"
)

// Tasks gives a build where there is a build system, a test where pytest is
// declared, a lint where ruff or flake8 is configured or declared, and a check
// where mypy is declared.
func (a *Adapter) Tasks(ctx context.Context, dir string) (adapters.TasksAnswer, error) {
	f := adapters.NewFiles(dir)
	p, err := open(f)
	if err != nil {
		return adapters.TasksAnswer{}, err
	}
	// The answer stands for that of RequiredToolchain too: what it looks at is noted.
	pin(f, p)
	configs := configsAbove(f)
	var tasks []adapters.Task
	for _, t := range []adapters.Task{p.build(), p.check(), p.lint(), p.test()} {
		if t.Run == "" {
			continue
		}
		t.Path = []string{venvBin}
		t.Env = map[string]string{"VIRTUAL_ENV": venv}
		t.ExtraInputs = p.filesAbove()
		if t.Name != "build" {
			t.ExtraInputs = append(t.ExtraInputs, configs...)
		}
		slices.Sort(t.ExtraInputs)
		tasks = append(tasks, t)
	}
	return adapters.TasksAnswer{Tasks: tasks, Reads: f.Reads()}, nil
}

func (p *project) build() adapters.Task {
	t := adapters.Task{Name: "build"}
	if !p.canBuild() {
		return t
	}
	t.Run = venvBin + "/pip wheel --no-deps -w dist ."
	t.Outputs = []string{"dist/**"}
	if p.usesSetuptools() {
		// As outputs they are removed before the next build: setuptools would put
		// modules into the wheel that are no longer in the sources.
		t.Outputs = append(t.Outputs, "build/lib/**", "build/lib.*/**", "build/bdist.*/**", "build/temp.*/**")
	}
	return t
}

func (p *project) test() adapters.Task {
	t := adapters.Task{Name: "test"}
	if p.tool("pytest").declared {
		t.Run = venvBin + "/python -m pytest"
	}
	return t
}

func (p *project) lint() adapters.Task {
	t := adapters.Task{Name: "lint"}
	ruff, flake8 := p.tool("ruff"), p.tool("flake8")
	switch {
	case ruff.declared || ruff.configured && !flake8.declared:
		t.Run = venvBin + "/ruff check ."
	case flake8.declared || flake8.configured:
		excluded := venv
		if flake8.settings != "" {
			excluded += "," + flake8.settings
		}
		t.Run = venvBin + "/python -m flake8 --extend-exclude " + quote(excluded)
	}
	return t
}

func (p *project) check() adapters.Task {
	t := adapters.Task{Name: "check"}
	if mypy := p.tool("mypy"); mypy.declared {
		t.Run = venvBin + "/python -m mypy"
		if mypy.settings == "" {
			t.Run += " ."
		}
	}
	return t
}

// filesAbove are the files outside the dish that say what is installed.
func (p *project) filesAbove() []string {
	var paths []string
	for _, file := range p.take {
		for _, path := range file.Files {
			if !within(p.dir, path) {
				paths = append(paths, path)
			}
		}
	}
	normal, dev := p.asked()
	for _, r := range slices.Concat(normal, dev) {
		if r.IsArchive() && !within(p.dir, r.Path) {
			paths = append(paths, r.Path)
		}
	}
	return paths
}

// configsAbove are the configurations above the dish that pytest, ruff, flake8
// and mypy find by themselves.
func configsAbove(f *adapters.Files) []string {
	var paths []string
	for dir := range f.Ancestors() {
		if dir == f.Dir() {
			continue
		}
		for _, name := range []string{
			"pyproject.toml", "setup.cfg", "tox.ini", "pytest.ini", ".pytest.ini", "conftest.py",
			"ruff.toml", ".ruff.toml", "mypy.ini", ".mypy.ini", ".flake8",
		} {
			if path := filepath.Join(dir, name); f.IsFile(path) {
				paths = append(paths, path)
			}
		}
	}
	return paths
}

// within tells whether path is dir or lies below it.
func within(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}
