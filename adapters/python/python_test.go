package python

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/adaptertest"
	"github.com/bentobuild/bento/adapters/python/environment"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/diagnostics"
)

func newPip() *Adapter { return New(snapshot.Options{Env: adapters.NewEnviron(os.Environ())}) }

const buildSystem = "[build-system]\nrequires = [\"setuptools\"]\n"

func TestDetect(t *testing.T) {
	root := adaptertest.Tree(t,
		"a/requirements.txt", "", "b/setup.py", "", "c/pyproject.toml", "[project]\n", "d/pyproject.toml", buildSystem,
		"e/pyproject.toml", "[tool.poetry]\n", "f/pyproject.toml", "[tool.ruff]\n", "g/pyproject.toml", "[", "h/requirements-dev.txt", "x")
	for dir, want := range map[string]bool{"a": true, "b": true, "c": true, "d": true, "e": true, "f": false, "g": true, "h": false} {
		if got, err := newPip().Detect(t.Context(), filepath.Join(root, dir)); got != want || err != nil {
			t.Errorf("%s: %v, %v; want %v", dir, got, err, want)
		}
	}
}

func TestTasks(t *testing.T) {
	const lib, bdist = "build/lib/**", "build/bdist.*/**"
	wheel := adapters.Task{Name: "build", SkipsPrivate: true, Fetches: true, Run: ".venv/bin/pip wheel --no-deps -w dist .", Outputs: []string{"dist/**"}}
	setuptools := wheel
	setuptools.Outputs = []string{"dist/**", lib, "build/lib.*/**", bdist, "build/temp.*/**"}
	test := adapters.Task{Name: "test", Run: ".venv/bin/python -m pytest"}
	script := func(name, run, body string) adapters.Task {
		return adapters.Task{Name: name, Run: run, Body: body, Script: true, NoCache: true, SideEffects: true}
	}
	format := script("format", ".venv/bin/ruff format .", "")
	poetry := adapters.Task{Name: "build", SkipsPrivate: true, Fetches: true, Run: "poetry build --no-interaction --no-ansi", Outputs: []string{"dist/**"}}
	for _, tt := range []struct {
		name  string
		files []string
		want  []adapters.Task
	}{
		{"nothing", []string{"requirements.txt", "six"}, nil},
		{"setup.py", []string{"setup.py", ""}, []adapters.Task{setuptools}},
		{"a project without a build system", []string{"pyproject.toml", "[project]\ndependencies=['pytest']"}, []adapters.Task{test}},
		{"another backend", []string{"pyproject.toml", buildSystem + "build-backend = 'hatchling.build'\n[dependency-groups]\nx=['PyTest>7']"}, []adapters.Task{wheel, test}},
		{"pytest in a file", []string{"requirements.txt", "", "requirements/test.txt", "pytest"}, []adapters.Task{test}},
		{"pytest of poetry", []string{"pyproject.toml", "[tool.poetry.group.dev.dependencies]\npytest='^8'\n"}, nil},
		{"pytest is only configured", []string{"pyproject.toml", "[project]\n[tool.pytest.ini_options]\n"}, nil},
		{"ruff is configured, without a version", []string{"requirements.txt", "", "ruff.toml", ""}, nil},
		{"ruff is configured", []string{"requirements.txt", "", "ruff.toml", "", ".pre-commit-config.yaml", "- repo: https://github.com/astral-sh/ruff-pre-commit\n  rev: v0.4.10\n"}, []adapters.Task{{Name: "lint", Run: ".venv/bin/ruff check --no-fix --no-fix-only ."}}},
		{"ruff is declared, flake8 configured", []string{"requirements.txt", "ruff", ".flake8", "[flake8]"}, []adapters.Task{{Name: "lint", Run: ".venv/bin/ruff check --no-fix --no-fix-only ."}, format}},
		{"poetry", []string{"poetry.lock", "", "pyproject.toml", buildSystem + "[tool.poetry.group.x]\noptional=true\n[tool.poetry.group.x.dependencies]\npytest='^8'\nruff='*'\n[tool.mypy]\n"},
			[]adapters.Task{poetry, {Name: "lint", Run: ".venv/bin/ruff check --no-fix --no-fix-only ."}, test, format}},
		{"poetry without a package", []string{"poetry.lock", "", "pyproject.toml", buildSystem + "[tool.poetry]\npackage-mode=false\n[project]\ndependencies=['black']\n[project.optional-dependencies]\nt=['mypy']\n[tool.ruff]\n"},
			[]adapters.Task{{Name: "check", Run: ".venv/bin/python -m mypy ."}, {Name: "format", Run: ".venv/bin/python -m black .", Script: true, NoCache: true, SideEffects: true}}},
		{"runners", []string{"requirements.txt", "pytest\npoethepoet\ntaskipy\n", "pyproject.toml", "[tool.poe.tasks]\ntest='x'\n_own='x'\n\"-x\"='x'\n'do it'={shell='x'}\n[tool.taskipy.tasks]\n'do it'='y'\nserve='y'\n"},
			[]adapters.Task{test, script("do it", ".venv/bin/poe 'do it'", "x"), script("serve", ".venv/bin/task serve", "y")}},
		{"runners that manage projects", []string{"pyproject.toml", "[tool.pdm.scripts]\n_.env='x'\nlint={cmd='x'}\nall={composite=['a']}\n[tool.hatch.envs.default.scripts]\nlint='y'\ncov=['a','b']\n"},
			[]adapters.Task{script("lint", "pdm run lint", "x"), script("all", "pdm run all", "pdm run all"), script("cov", "hatch run cov", "a && b")}},
		{"runners that are not asked for", []string{"requirements.txt", "pytest", "pyproject.toml", "[tool.poe.tasks]\na='x'\n"}, []adapters.Task{test}},
		{"flake8", []string{"requirements.txt", "", "tox.ini", "[flake8]\nextend-exclude = a,\n  b\n", ".pre-commit-config.yaml", "- repo: https://github.com/pycqa/flake8\n  rev: 7.0.0\n"},
			[]adapters.Task{{Name: "lint", Run: ".venv/bin/python -m flake8 --extend-exclude .venv,a,b"}}},
		{"an old flake8", []string{"requirements.txt", "flake8==3.7.8"},
			[]adapters.Task{{Name: "lint", Run: ".venv/bin/python -m flake8 --exclude '.venv,.svn,CVS,.bzr,.hg,.git,__pycache__,.tox,.eggs,*.egg'"}}},
		{"flake8 is declared, ruff configured", []string{"requirements.txt", "flake8", "ruff.toml", ""},
			[]adapters.Task{{Name: "lint", Run: ".venv/bin/python -m flake8 --extend-exclude .venv"}}},
		{"mypy", []string{"requirements.txt", "mypy"}, []adapters.Task{{Name: "check", Run: ".venv/bin/python -m mypy ."}}},
		{"mypy that knows what", []string{"requirements.txt", "mypy", "mypy.ini", "[mypy]\nfiles = src\n"}, []adapters.Task{{Name: "check", Run: ".venv/bin/python -m mypy"}}},
		{"mypy is only configured", []string{"pyproject.toml", "[project]\n[tool.mypy]\nstrict=true"}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ans, err := newPip().Tasks(t.Context(), adaptertest.Tree(t, append(tt.files, "src/x_test.py", "")...))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, ans.Tasks, cmpopts.IgnoreFields(adapters.Task{}, "Path", "Env", "ExtraInputs")); diff != "" {
				t.Error(diff)
			}
			for _, task := range ans.Tasks {
				if !slices.Equal(task.Path, []string{".venv/bin"}) || task.Env["VIRTUAL_ENV"] != ".venv" {
					t.Errorf("%s sees %q, %q", task.Name, task.Path, task.Env)
				}
			}
		})
	}
}

func TestInputsAbove(t *testing.T) {
	root := adaptertest.Tree(t,
		"app/requirements.txt", "-r ../shared/base.txt\n-c ../shared/limits.txt\n../wheels/x-1.whl\npytest\nruff\n", "app/setup.py", "", "app/tests/x.py", "",
		"shared/base.txt", "six", "shared/limits.txt", "six<2", "conftest.py", "", "ruff.toml", "", "unrelated.txt", "")
	ans, err := newPip().Tasks(t.Context(), filepath.Join(root, "app"))
	if err != nil {
		t.Fatal(err)
	}
	in := func(names ...string) (paths []string) {
		for _, name := range names {
			paths = append(paths, filepath.Join(root, name))
		}
		return paths
	}
	installed := in("shared/base.txt", "shared/limits.txt", "wheels/x-1.whl")
	want := map[string][]string{
		"build":  installed,
		"test":   append(in("conftest.py", "ruff.toml"), installed...),
		"lint":   append(in("conftest.py", "ruff.toml"), installed...),
		"format": append(in("conftest.py", "ruff.toml"), installed...),
	}
	got := make(map[string][]string)
	for _, task := range ans.Tasks {
		got[task.Name] = task.ExtraInputs
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, path := range append(in("app/pyproject.toml", "app/requirements/dev.txt", ".python-version", "pytest.ini"), installed[:2]...) {
		if ans.Reads[path].Kind == adapters.Unseen {
			t.Errorf("%s is not among the reads", path)
		}
	}
}

func TestLinks(t *testing.T) {
	root := adaptertest.Tree(t,
		"app/requirements.txt", "six\n-e ../lib\n./vendored\n-e .\n", "app/requirements-dev.txt", "pytest\n../testing\n-e ../lib\n",
		"app/pyproject.toml", "[project]\ndependencies = [\n'core @ file:../core',\n 'wheel @ file:../x.whl']\n[tool.uv.sources]\nui = {path = '../ui'}\n")
	ans, err := newPip().Links(t.Context(), filepath.Join(root, "app"))
	if err != nil {
		t.Fatal(err)
	}
	in := func(name string) string { return filepath.Join(root, name) }
	want := []adapters.Link{
		{Dir: in("core"), File: in("app/pyproject.toml"), Line: 3},
		{Dir: in("ui"), File: in("app/pyproject.toml"), Line: 6},
		{Dir: in("lib"), File: in("app/requirements.txt"), Line: 2},
		{Dir: in("app/vendored"), File: in("app/requirements.txt"), Line: 3},
		{Dir: in("testing"), File: in("app/requirements-dev.txt"), Line: 2, Dev: true, Private: true},
	}
	if diff := cmp.Diff(want, ans.Links); diff != "" {
		t.Error(diff)
	}
}

func TestInstallScope(t *testing.T) {
	for _, tt := range []struct {
		name    string
		files   []string
		command string // behind the making of the environment
		more    []string
		nothing bool
	}{
		{"nothing", []string{"app/requirements.txt", "# none\n"}, "install -r requirements.txt", []string{"app/requirements.txt"}, true},
		{"a file", []string{"app/requirements.txt", "six"}, "install -r requirements.txt", []string{"app/requirements.txt"}, false},
		{"itself", []string{"app/setup.py", ""}, "install -e .", nil, false},
		{"with an extra", []string{"app/pyproject.toml", buildSystem + "[project.optional-dependencies]\nall=['pytest']\ntest=['pytest','ruff']\n"},
			"install -e '.[test]'", nil, false},
		{"with a group", []string{"app/pyproject.toml", buildSystem + "[dependency-groups]\ntest=['pytest >7', '-r x']\n"},
			"install 'pytest >7' -e .", nil, false},
		{"no build system", []string{"app/pyproject.toml", "[project]\ndependencies=['six']\n[project.optional-dependencies]\nt=['pytest']\n"},
			"install six pytest", nil, false},
		{"hashes", []string{"app/setup.py", "", "app/requirements.txt", "six==1 --hash=sha256:aa"},
			"install --require-hashes -r requirements.txt && .venv/bin/python -m pip install --no-deps -e .", []string{"app/requirements.txt"}, false},
		{"hashes, and tools without", []string{"app/requirements.txt", "six==1 --hash=sha256:aa", "app/requirements-dev.txt", "pytest", "app/ruff.toml", "required-version='0.5.1'", "app/.pre-commit-config.yaml", "- repo: https://github.com/astral-sh/ruff-pre-commit\n  rev: v0.5.1\n"},
			"install --require-hashes -r requirements.txt && .venv/bin/python -m pip install -r requirements-dev.txt ruff==0.5.1",
			[]string{"app/requirements-dev.txt", "app/requirements.txt"}, false},
		{"pins before the project, which they name", []string{"app/pyproject.toml", buildSystem + "[project]\nname='click'\n[tool.pytest.ini_options]\n", "app/requirements/dev.txt", "click==8.1.8\npytest==8.3.0\n"},
			"install -r requirements/dev.txt && .venv/bin/python -m pip install -e .", []string{"app/requirements/dev.txt"}, false},
		{"pins with a range are none", []string{"app/setup.py", "", "app/requirements.txt", "six==1.*\n", "app/pytest.ini", "", "app/requirements-dev.txt", "pytest==8.3.0\n"},
			"install -r requirements-dev.txt && .venv/bin/python -m pip install -r requirements.txt -e .", []string{"app/requirements-dev.txt", "app/requirements.txt"}, false},
		{"pins without a project", []string{"app/requirements.txt", "six==1.16.0\n", "app/requirements-dev.txt", "pytest\n"},
			"install -r requirements.txt -r requirements-dev.txt", []string{"app/requirements-dev.txt", "app/requirements.txt"}, false},
		{"a tool of that version", []string{"app/pyproject.toml", buildSystem + "[tool.ruff]\nrequired-version='0.5.1'\n"},
			"install ruff==0.5.1 -e .", nil, false},
		{"copies become links", []string{"app/requirements.txt", "../lib\n.\n", "app/setup.py", "", "lib/pyproject.toml", "[project]\ndependencies=['core @ file:../core']", "core/setup.py", ""},
			"install -r requirements.txt && .venv/bin/python -m pip install --no-deps -e . -e ../lib -e ../core",
			[]string{"app/requirements.txt", "core/pyproject.toml", "core/setup.cfg", "core/setup.py", "lib/pyproject.toml", "lib/setup.cfg", "lib/setup.py"}, false},
		{"poetry", []string{"app/poetry.lock", "", "app/pyproject.toml", "[tool.poetry.dependencies]\nlib={path='../lib'}\n[tool.poetry.group.x]\noptional=true\n[tool.poetry.group.x.dependencies]\npytest='*'\n[project.optional-dependencies]\ny=['ruff']\n", "lib/setup.py", ""},
			"poetry install --no-interaction --no-ansi --with x --extras y",
			[]string{"app/poetry.lock", "app/poetry.toml", "lib/pyproject.toml", "lib/setup.cfg", "lib/setup.py"}, false},
		{"what uv knows", []string{"app/pyproject.toml", buildSystem + "[project]\ndependencies=['Lib']\n[tool.uv.sources]\nlib={path='sub/lib'}\nunused={path='../x'}\n", "app/sub/lib/setup.py", "", "x/y", ""},
			"install -e ./sub/lib -e .", []string{"app/sub/lib/pyproject.toml", "app/sub/lib/setup.cfg", "app/sub/lib/setup.py"}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			root := adaptertest.Tree(t, tt.files...)
			dir := filepath.Join(root, "app")
			s, err := newPip().InstallScope(t.Context(), dir)
			if err != nil {
				t.Fatal(err)
			}
			want := adapters.Scope{
				Dir: dir, Made: []string{environment.Mark, environment.Python}, Nothing: tt.nothing,
				Command: "cd " + dir + " && python3 -m venv .venv && .venv/bin/python -m pip " + tt.command,
			}
			if strings.HasPrefix(tt.command, "poetry") {
				want.Command = "cd " + dir + " && python3 -m venv --without-pip .venv && " + tt.command
				want.Copied = []adapters.Copied{{Dir: filepath.Join(root, "lib")}}
			}
			for _, name := range append([]string{"app/pyproject.toml", "app/setup.cfg", "app/setup.py"}, tt.more...) {
				want.Files = append(want.Files, filepath.Join(root, name))
			}
			slices.Sort(want.Files)
			if diff := cmp.Diff(want, s, cmpopts.IgnoreFields(s, "Reads")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestMalformedManifests(t *testing.T) {
	a := newPip()
	for _, tt := range []struct{ name, text, want string }{
		{"pyproject.toml", "[project]\nname = \n", ":2:"},
		{"requirements.txt", "six\n-r none.txt\n", ":2: the included file \"none.txt\" does not exist"},
		{"requirements-dev.txt", "-c none.txt\n", ":1: the included file"},
	} {
		root := adaptertest.Tree(t, tt.name, tt.text)
		for name, ask := range asks(a) {
			err := ask(t.Context(), root)
			var problems diagnostics.Problems
			if !errors.As(err, &problems) || !strings.HasPrefix(err.Error(), filepath.Join(root, tt.name)+tt.want) {
				t.Errorf("%s of a malformed %s gave %v", name, tt.name, err)
			}
		}
	}
}

func asks(a *Adapter) map[string]func(context.Context, string) error {
	return map[string]func(context.Context, string) error{
		"tasks": func(ctx context.Context, dir string) error { _, err := a.Tasks(ctx, dir); return err },
		"links": func(ctx context.Context, dir string) error { _, err := a.Links(ctx, dir); return err },
		"scope": func(ctx context.Context, dir string) error { _, err := a.InstallScope(ctx, dir); return err },
		"pin":   func(ctx context.Context, dir string) error { _, err := a.RequiredToolchain(ctx, dir); return err },
	}
}
