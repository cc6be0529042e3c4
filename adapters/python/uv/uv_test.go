package uv

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/adaptertest"
	"github.com/bentobuild/bento/adapters/snapshot"
)

func newUV(set ...string) *Adapter { return New(snapshot.Options{Env: adaptertest.Env(set...)}) }

// workspace is one with all that a workspace may have.
const workspace = `
-- pyproject.toml --
[tool.uv.workspace]
members = ["packages/*", "deep/**", ".", "../out", "/abs"]
exclude = ["packages/old"]
[tool.uv.sources]
ui = { workspace = true }
[dependency-groups]
dev = ["pytest", "ruff"]
lint = ["mypy"]
-- uv.lock --
version = 1
-- packages/lib/pyproject.toml --
[build-system]
requires = ["setuptools"]
[project]
name = "Example.Lib"
requires-python = ">=3.9"
dependencies = ["six"]
-- packages/lib/tests/test_lib.py --
-- packages/app/pyproject.toml --
[project]
name = "app"
dependencies = [
  "example-lib", "ui>=1",
  "idna", "wheel1 @ file:../../wheel1-1.whl", "away @ file:../../../away",
]
[project.optional-dependencies]
fast = ["vendored"]
[dependency-groups]
test = ["testing", "example_lib"]
[tool.uv.sources]
example-lib = { workspace = true }
vendored = { path = "vendored" }
testing = [{ path = "../../testing", marker = "x" }, { index = "y", marker = "z" }]
[tool.poe.tasks]
serve = "x"
-- packages/old/pyproject.toml --
[project]
name = "old"
-- packages/.hidden/pyproject.toml --
[project]
name = "hidden"
-- packages/plain/readme --
-- packages/own/pyproject.toml --
[project]
name = "own"
[tool.uv]
managed = false
-- deep/er/ui/pyproject.toml --
[project]
name = "ui"
[tool.uv]
package = true
-- deep/er/ui/src/ui/view_test.py --
-- deep/settings/pyproject.toml --
[tool.ruff]
-- other/pyproject.toml --
[project]
name = "other"
[tool.uv]
managed = true
-- between/pyproject.toml --
[tool.black]
-- between/inside/pyproject.toml --
[project]
name = "inside"
-- locked/pyproject.toml --
[project]
name = "locked"
-- locked/uv.lock --
-- pip/pyproject.toml --
[project]
name = "pip"
-- broken/pyproject.toml --
[project
-- broken/uv.lock --
`

func TestDetect(t *testing.T) {
	root, a := adaptertest.Project(t, workspace), newUV()
	want := map[string]bool{
		".": true, "packages/lib": true, "packages/app": true, "packages/old": false, "packages/.hidden": true, "packages/plain": false,
		"packages/own": false, "deep/er/ui": true, "deep/settings": false, "other": true, "between": false, "between/inside": false,
		"locked": true, "pip": false, "broken": true, "nowhere": false,
	}
	for dir, want := range want {
		if got, err := a.Detect(t.Context(), filepath.Join(root, dir)); got != want || err != nil {
			t.Errorf("%s: %v, %v; want %v", dir, got, err, want)
		}
	}
}

func TestMembers(t *testing.T) {
	root, a := adaptertest.Project(t, workspace), newUV()
	ans := adaptertest.Tasks(t, a, root)
	var members []string
	for _, dir := range ans.Members {
		members = append(members, adaptertest.Relative(root, dir))
	}
	want := []string{"deep/er/ui", "deep/settings", "packages/app", "packages/lib", "packages/own"}
	if diff := cmp.Diff(want, members); diff != "" {
		t.Error(diff)
	}
	if !ans.Aggregate || len(ans.Tasks) > 0 {
		t.Errorf("a root without a package has %v", ans.Tasks)
	}
	if ans := adaptertest.Tasks(t, a, filepath.Join(root, "packages/lib")); ans.Aggregate || len(ans.Members) > 0 {
		t.Errorf("a member: %+v", ans)
	}
}

func TestTasks(t *testing.T) {
	root, a := adaptertest.Project(t, workspace), newUV()
	for dir, want := range map[string]map[string]string{
		"packages/lib": {
			"build": "uv build --out-dir dist",
			"check": "../../.venv/bin/python -m mypy .", "format": "(../../.venv/bin/ruff format .)",
			"lint": "../../.venv/bin/ruff check --no-fix --no-fix-only .", "test": "../../.venv/bin/python -m pytest",
		},
		"deep/er/ui": {
			"build": "uv build --out-dir dist",
			"check": "../../../.venv/bin/python -m mypy .", "format": "(../../../.venv/bin/ruff format .)",
			"lint": "../../../.venv/bin/ruff check --no-fix --no-fix-only .", "test": "../../../.venv/bin/python -m pytest",
		},
		"other":  {},
		"locked": {},
	} {
		if diff := cmp.Diff(want, adaptertest.Runs(t, a, filepath.Join(root, dir))); diff != "" {
			t.Errorf("%s: %s", dir, diff)
		}
	}
	build := adaptertest.Task(t, a, filepath.Join(root, "packages/lib"), "build")
	want := adapters.Task{
		Name: "build", SkipsPrivate: true, NoInstall: true, Fetches: true, Run: "uv build --out-dir dist",
		Outputs: []string{"dist/**", "build/lib/**", "build/lib.*/**", "build/bdist.*/**", "build/temp.*/**"},
		Path:    []string{"../../.venv/bin"}, Env: map[string]string{"VIRTUAL_ENV": "../../.venv"},
		ExtraInputs: []string{filepath.Join(root, "pyproject.toml"), filepath.Join(root, "uv.lock")},
	}
	if diff := cmp.Diff(want, build); diff != "" {
		t.Error(diff)
	}
}

// TestCheckOfTheRoot: where the root's configuration names the files that mypy checks, a member without
// such a file, and without a configuration or a requirement of its own, has no check.
func TestCheckOfTheRoot(t *testing.T) {
	const members = `
-- uv.lock --
version = 1
-- a/pyproject.toml --
[project]
name = "a"
-- a/a.py --
-- b/pyproject.toml --
[project]
name = "b"
[tool.mypy]
-- b/b.py --
-- c/pyproject.toml --
[project]
name = "c"
[dependency-groups]
types = ["mypy"]
-- c/c.py --
-- pyproject.toml --
[project]
name = "root"
[tool.uv.workspace]
members = ["a", "b", "c"]
[dependency-groups]
dev = ["mypy"]
`
	for _, tt := range []struct{ name, root, want string }{
		{"nothing named", "[tool.mypy]\nstrict = true\n", "a b c"},
		{"a file of its own", "[tool.mypy]\nfiles = 'tests/typed.py'\n", "b c"},
		{"in a list", "[tool.mypy]\nfiles = ['tests', './a/a.py']\n", "a b c"},
		{"with commas and globs", "[tool.mypy]\nfiles = 'tests, a/*.py'\n", "a b c"},
		{"a directory with a longer name", "[tool.mypy]\nfiles = ['ab']\n", "b c"},
		{"everything", "[tool.mypy]\nfiles = '.'\n", "a b c"},
		{"packages", "[tool.mypy]\npackages = ['x']\n", "a b c"},
		{"mypy.ini", "-- mypy.ini --\n[mypy]\nfiles = tests\n", "b c"},
	} {
		root, a := adaptertest.Project(t, members+tt.root), newUV()
		var got []string
		for _, dir := range []string{"a", "b", "c"} {
			if run := adaptertest.Runs(t, a, filepath.Join(root, dir))["check"]; run != "" {
				got = append(got, dir)
			}
		}
		if diff := cmp.Diff(tt.want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
		if adaptertest.Runs(t, a, root)["check"] == "" {
			t.Errorf("%s: the root has no check", tt.name)
		}
	}
}

func TestTasksOfOneProject(t *testing.T) {
	for _, tt := range []struct {
		name, manifest string
		want           map[string]string
	}{
		{"nothing", "[project]\n", map[string]string{}},
		{"no package", "[project]\n[build-system]\n[tool.uv]\npackage = false\n", map[string]string{}},
		{"groups and no project, beside a setup.py", "[dependency-groups]\ndev = ['pytest', 'mypy']\n", map[string]string{"test": ".venv/bin/python -m pytest", "check": ".venv/bin/python -m mypy ."}},
		{"the root of a workspace without a project", "[tool.uv.workspace]\n[dependency-groups]\ndev = ['pytest']\n", map[string]string{}},
		{"a linter that is only configured", "[project]\n[tool.ruff]\n", map[string]string{}},
		{"extras and groups", "[project]\n[project.optional-dependencies]\nt = ['pytest']\n[dependency-groups]\nl = ['flake8']\n[tool.flake8]\n",
			map[string]string{"test": ".venv/bin/python -m pytest", "lint": ".venv/bin/python -m flake8 --extend-exclude .venv"}},
		{"poe", "[project]\n[dependency-groups]\ndev = ['poethepoet']\n[tool.poe.tasks]\nserve = 'x'\n", map[string]string{"serve": "(.venv/bin/poe serve)"}},
		{"dependencies of uv's older kind", "[project]\n[tool.uv]\ndev-dependencies = ['pytest']\n", map[string]string{"test": ".venv/bin/python -m pytest"}},
	} {
		root := adaptertest.Project(t, "-- pyproject.toml --\n"+tt.manifest+"-- uv.lock --\nversion = 1\n-- test_x.py --\n")
		if diff := cmp.Diff(tt.want, adaptertest.Runs(t, newUV(), root)); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
}

func TestLinks(t *testing.T) {
	root, a := adaptertest.Project(t, workspace), newUV()
	const manifest = "packages/app/pyproject.toml"
	want := []adapters.Link{
		{Package: "uv:ROOT:example-lib", File: manifest, Line: 4},
		{Package: "uv:ROOT:ui", File: manifest, Line: 4},
		{Dir: "../away", File: manifest, Line: 5},
		{Dir: "packages/app/vendored", File: manifest, Line: 8, Dev: true},
		{Dir: "testing", File: manifest, Line: 10, Dev: true, Private: true},
	}
	links := adaptertest.Links(t, a, root, filepath.Join(root, "packages/app"))
	for i := range links {
		if links[i].Dir != "" && filepath.IsAbs(links[i].Dir) {
			rel, _ := filepath.Rel(root, links[i].Dir)
			links[i].Dir = rel
		}
	}
	if diff := cmp.Diff(want, links); diff != "" {
		t.Error(diff)
	}
	virtual := adaptertest.Project(t, "-- pyproject.toml --\n[tool.uv.workspace]\nmembers = ['tool']\n[tool.uv.sources]\ntool = { workspace = true }\n[dependency-groups]\ndev = ['tool']\n-- tool/pyproject.toml --\n[project]\nname = 'tool'\n")
	shared := []adapters.Link{{Package: "uv:ROOT:tool", File: "pyproject.toml", Line: 6, Dev: true, Private: true, Shared: true}}
	if diff := cmp.Diff(shared, adaptertest.Links(t, a, virtual, virtual)); diff != "" {
		t.Error("the members use the groups of the root: ", diff)
	}
	ans, err := a.Links(t.Context(), filepath.Join(root, "packages/lib"))
	if err != nil || !slices.Equal(ans.Provides, []string{"uv:" + root + ":example-lib"}) || len(ans.Links) > 0 {
		t.Errorf("%+v, %v", ans, err)
	}
}

func TestInstallScope(t *testing.T) {
	root, a := adaptertest.Project(t, workspace), newUV()
	scopes := make(map[string]adapters.Scope)
	for _, dir := range []string{".", "packages/lib", "packages/app"} {
		s, err := a.InstallScope(t.Context(), filepath.Join(root, dir))
		if err != nil {
			t.Fatal(err)
		}
		if s.Reads[filepath.Join(root, "packages/lib/pyproject.toml")].Kind == adapters.Unseen || s.Reads[filepath.Join(root, "packages")].Kind == adapters.Unseen {
			t.Errorf("%s: the reads are %q", dir, s.Reads)
		}
		s.Reads = nil
		scopes[dir] = s
	}
	for dir, s := range scopes {
		if diff := cmp.Diff(scopes["."], s); diff != "" {
			t.Errorf("%s has a scope of its own: %s", dir, diff)
		}
	}
	s := scopes["."]
	var files []string
	for _, path := range s.Files {
		files = append(files, adaptertest.Relative(root, path))
	}
	want := []string{".python-version",
		"deep/er/ui/pyproject.toml", "deep/er/ui/setup.cfg", "deep/er/ui/setup.py",
		"packages/app/pyproject.toml", "packages/app/setup.cfg", "packages/app/setup.py",
		"packages/app/vendored/pyproject.toml", "packages/app/vendored/setup.cfg", "packages/app/vendored/setup.py",
		"packages/lib/pyproject.toml", "packages/lib/setup.cfg", "packages/lib/setup.py", "pyproject.toml",
		"testing/pyproject.toml", "testing/setup.cfg", "testing/setup.py", "uv.lock", "uv.toml"}
	if diff := cmp.Diff(want, files, cmpopts.SortSlices(strings.Compare)); diff != "" {
		t.Error(diff)
	}
	if want := "cd " + root + " && uv sync --all-packages --locked --group=lint"; s.Command != want || s.Dir != root {
		t.Errorf("%q in %s, want %q", s.Command, s.Dir, want)
	}
	if err := os.Remove(filepath.Join(root, "uv.lock")); err != nil {
		t.Fatal(err)
	}
	if s, err := a.InstallScope(t.Context(), root); err != nil || strings.Contains(s.Command, "--locked") {
		t.Errorf("without a lockfile: %q, %v", s.Command, err)
	}
}

func TestPins(t *testing.T) {
	root, a := adaptertest.Project(t, workspace), newUV()
	pin := func(dir string) *adapters.Toolchain {
		t.Helper()
		p, err := a.RequiredToolchain(t.Context(), filepath.Join(root, dir))
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	want := &adapters.Toolchain{Tool: "python", Version: ">=3.9", File: filepath.Join(root, "packages/lib/pyproject.toml"), Line: 5, Strict: true}
	if diff := cmp.Diff(want, pin("packages/lib")); diff != "" {
		t.Error(diff)
	}
	if p := pin("packages/app"); p != nil {
		t.Errorf("%+v", p)
	}
	// The environment is made at the root: a file in the member has no effect.
	adaptertest.Write(t, filepath.Join(root, "packages/lib/.python-version"), "3.8\n")
	if diff := cmp.Diff(want, pin("packages/lib")); diff != "" {
		t.Error(diff)
	}
	adaptertest.Write(t, filepath.Join(root, ".python-version"), "3.12\n3.11\n")
	want = &adapters.Toolchain{Tool: "python", Version: "3.12", File: filepath.Join(root, ".python-version"), Line: 1, Strict: true}
	if diff := cmp.Diff(want, pin("packages/lib")); diff != "" {
		t.Error(diff)
	}
	for print, ok := range map[string]bool{
		"uv=0.9 python=3.12.1 implementation=cpython": true, "uv=0.9 python=3.11.1 implementation=cpython": false, "uv=0.9 python=none": false,
	} {
		if v := a.CheckPin(*want, print); v.OK != ok || !ok && (v.Found == "" || v.Hint == "") {
			t.Errorf("%s: %+v", print, v)
		}
	}
	if v := New(snapshot.Options{AllowDownload: true}).CheckPin(*want, "uv=0.9 python=none"); !v.OK {
		t.Errorf("uv could get it: %+v", v)
	}
}

func TestLockDigest(t *testing.T) {
	root, a := adaptertest.Project(t, workspace), newUV()
	lib := filepath.Join(root, "packages/lib")
	if got := adaptertest.Lock(t, a, root, lib); got.File != "uv.lock" || got.Digest != "" || got.Whole != "uv.lock does not list example-lib" {
		t.Errorf("%+v", got)
	}
	const known = "version = 1\n[[package]]\nname = \"example-lib\"\nsource = { editable = \"packages/lib\" }\n"
	adaptertest.Write(t, filepath.Join(root, "uv.lock"), known)
	if got := adaptertest.Lock(t, a, root, lib); got.Digest == "" || got.Whole != "" {
		t.Errorf("%+v", got)
	}
	adaptertest.Write(t, filepath.Join(root, "uv.lock"), "version = 2\n")
	if got := adaptertest.Lock(t, a, root, lib); got.Digest != "" || got.Whole == "" {
		t.Errorf("%+v", got)
	}
	if got := adaptertest.Lock(t, a, root, filepath.Join(root, "other")); got.File != "" {
		t.Errorf("%+v", got)
	}
}

func TestMalformed(t *testing.T) {
	root, a := adaptertest.Project(t, workspace), newUV()
	adaptertest.Write(t, filepath.Join(root, "packages/app/pyproject.toml"), "[project]\nname = \n")
	_, err := adapters.Tasks(t.Context(), a, filepath.Join(root, "packages/app"))
	if got := adaptertest.Where(t, root, err); !strings.HasPrefix(got, "packages/app/pyproject.toml:2:") {
		t.Errorf("%q", got)
	}
	// It is its own problem.
	if got := adaptertest.Runs(t, a, filepath.Join(root, "packages/lib")); got["test"] == "" {
		t.Errorf("%q", got)
	}
	adaptertest.Write(t, filepath.Join(root, "pyproject.toml"), "[tool.uv.workspace\n")
	_, err = adapters.Tasks(t.Context(), a, root)
	if got := adaptertest.Where(t, root, err); !strings.HasPrefix(got, "pyproject.toml:1:") {
		t.Errorf("%q", got)
	}
}

// A member may have members of the same workspace below.
func TestMembersInsideOfMembers(t *testing.T) {
	root, a := adaptertest.Project(t, `
-- pyproject.toml --
[project]
name = "top"
[tool.uv.workspace]
members = ["examples", "examples/*"]
-- examples/pyproject.toml --
[project]
name = "examples"
-- examples/one/pyproject.toml --
[project]
name = "one"
-- examples/not/deep/pyproject.toml --
[project]
name = "deep"
`), newUV()
	for dir, want := range map[string]bool{".": true, "examples": true, "examples/one": true, "examples/not/deep": false} {
		if got, err := a.Detect(t.Context(), filepath.Join(root, dir)); got != want || err != nil {
			t.Errorf("%s: %v, %v; want %v", dir, got, err, want)
		}
	}
	if s, err := a.InstallScope(t.Context(), filepath.Join(root, "examples/one")); err != nil || s.Dir != root {
		t.Errorf("%+v, %v", s, err)
	}
}
