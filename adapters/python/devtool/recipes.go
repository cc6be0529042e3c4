package devtool

import (
	"path/filepath"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/internal/pattern"
)

// Recipes returns check, lint, test, and format as a script: the recipes of the declared tools, and of those for
// which a configuration is enough. bin is the directory of the virtual environment's commands, quoted for a shell;
// venv is the environment relative to the project, if it is inside.
func (list Tools) Recipes(bin, venv string) []adapters.Task {
	tasks := []adapters.Task{
		{Name: "check", Run: list.check(bin)},
		{Name: "lint", Run: list.lint(bin, venv)},
		{Name: "test", Run: list.test(bin)},
		{Name: "format", Run: list.format(bin), Script: true, NoCache: true, SideEffects: true},
	}
	kept := tasks[:0]
	for _, t := range tasks {
		if t.Run != "" {
			kept = append(kept, t)
		}
	}
	return kept
}

func (list Tools) test(bin string) string {
	if pytest := list.named("pytest"); !pytest.Declared || pytest.settings == "" {
		return ""
	}
	return bin + "/python -m pytest"
}

func (list Tools) check(bin string) string {
	mypy := list.named("mypy")
	switch {
	case !mypy.Declared:
		return ""
	case mypy.settings != "":
		return bin + "/python -m mypy"
	}
	return bin + "/python -m mypy ."
}

func (list Tools) lint(bin, venv string) string {
	ruff, flake8 := list.named("ruff"), list.named("flake8")
	switch {
	case ruff.Declared || ruff.Configured && ruff.Alone && !flake8.Declared:
		// The settings fix and fix-only would have it rewrite the sources.
		return bin + "/ruff check --no-fix --no-fix-only ."
	case flake8.Declared || flake8.Configured && flake8.Alone:
		var excluded []string
		for _, dir := range []string{venv, flake8.settings} {
			if dir != "" {
				excluded = append(excluded, dir)
			}
		}
		switch {
		case len(excluded) == 0:
			return bin + "/python -m flake8"
		case beforeExtend.MatchString(flake8.Pinned):
			return bin + "/python -m flake8 --exclude " + adapters.Quote(strings.Join(append(excluded, usuallyExcluded), ","))
		}
		return bin + "/python -m flake8 --extend-exclude " + adapters.Quote(strings.Join(excluded, ","))
	}
	return ""
}

// beforeExtend matches the versions of flake8 without --extend-exclude: before 3.8.
var beforeExtend = pattern.New(`^ *(?:(?:==|~=|<|<=|===) *(?:[0-2]\.|3\.[0-7](?:\.|$|[, ]))|< *3\.8)`)

// usuallyExcluded are the names that these tools exclude without --exclude.
const usuallyExcluded = ".svn,CVS,.bzr,.hg,.git,__pycache__,.tox,.eggs,*.egg"

func (list Tools) format(bin string) string {
	switch {
	case list.named("black").Declared:
		return bin + "/python -m black ."
	case list.named("ruff").Declared:
		return bin + "/ruff format ."
	}
	return ""
}

// ConfigsAbove returns the configurations above the project that its tools find themselves.
func ConfigsAbove(f *snapshot.Files) []string {
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
