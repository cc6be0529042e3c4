package python

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/adaptertest"
	"github.com/bentobuild/bento/adapters/python/environment"
	"github.com/bentobuild/bento/adapters/python/interpreter"
	"github.com/bentobuild/bento/adapters/snapshot"
)

func TestPoetryLinks(t *testing.T) {
	root := adaptertest.Tree(t, "app/poetry.lock", "", "app/pyproject.toml", `[project]
dependencies = ["core"]
[tool.poetry.dependencies]
python = "^3.9"
core = {path = "../core", develop = true}
other = [{version = "1", python = "<3.9"}, {path = "../other", python = ">=3.9"}]
[tool.poetry.group.dev.dependencies]
testing = {path = "../testing"}
`)
	ans, err := newPip().Links(t.Context(), filepath.Join(root, "app"))
	if err != nil {
		t.Fatal(err)
	}
	manifest := filepath.Join(root, "app/pyproject.toml")
	want := []adapters.Link{
		{Dir: filepath.Join(root, "core"), File: manifest, Line: 5},
		{Dir: filepath.Join(root, "other"), File: manifest, Line: 6},
		{Dir: filepath.Join(root, "testing"), File: manifest, Line: 8, Dev: true, Private: true},
	}
	if diff := cmp.Diff(want, ans.Links); diff != "" {
		t.Error(diff)
	}
}

func TestPoetryLockDigest(t *testing.T) {
	const lock = "[[package]]\nname = 'six'\nversion = '1'\nfiles = []\n[metadata]\nlock-version = '2.1'\n"
	root := adaptertest.Tree(t, "app/poetry.lock", lock, "app/pyproject.toml", "[project]\n", "pip/requirements.txt", "", "lone/poetry.lock", lock)
	ask := func(dir string) adapters.LockAnswer {
		t.Helper()
		ans, err := newPip().LockDigest(t.Context(), filepath.Join(root, dir))
		if err != nil {
			t.Fatal(err)
		}
		if len(ans.Reads) == 0 {
			t.Errorf("%s: no reads", dir)
		}
		return ans
	}
	before := ask("app")
	if before.Digest == "" || before.File != filepath.Join(root, "app/poetry.lock") || before.Whole != "" {
		t.Errorf("%+v", before)
	}
	adaptertest.Put(t, root, "app/poetry.lock", "# a comment\n"+strings.Replace(lock, "lock-version", "content-hash = 'x'\nlock-version", 1))
	if got := ask("app"); got.Digest != before.Digest {
		t.Error("what is not resolved to counts")
	}
	adaptertest.Put(t, root, "app/poetry.lock", strings.Replace(lock, "'1'", "'2'", 1))
	if got := ask("app"); got.Digest == before.Digest {
		t.Error("a new version does not count")
	}
	for text, want := range map[string]string{
		"[[package]\n":                         root + "/app/poetry.lock:1:10:",
		strings.Replace(lock, "2.1", "7.0", 1): `lock-version "7.0" of poetry.lock is unknown, expected 1 or 2`,
		"":                                     `lock-version "" of poetry.lock`,
	} {
		adaptertest.Put(t, root, "app/poetry.lock", text)
		if got := ask("app"); got.Digest != "" || got.File == "" || !strings.HasPrefix(got.Whole, want) || strings.Contains(got.Whole, "\n") {
			t.Errorf("%q: %+v", text, got)
		}
	}
	for _, dir := range []string{"pip", "lone"} {
		if got := ask(dir); got.File != "" || got.Digest != "" {
			t.Errorf("%s: %+v", dir, got)
		}
	}
}

// TestPoetryWithoutLock: without a lockfile pip installs. A warning reports what it leaves
// out if that removes a recipe.
func TestPoetryWithoutLock(t *testing.T) {
	const system = "[build-system]\nrequires = ['poetry-core']\n"
	const group = "[tool.poetry.group.dev.dependencies]\nidna = '*'\npytest = '^8'\n"
	root := adaptertest.Tree(t, "tests/test_x.py", "")
	for text, want := range map[string]string{
		system + group: "pyproject.toml:5: the group \"dev\" of tool.poetry, where pytest is",
		system + group + "[dependency-groups]\ntest = ['pytest']\n":                     "",
		system + "[tool.poetry.group.dev.dependencies]\nidna = '*'\n":                   "",
		system + "[tool.poetry.dependencies]\nidna = '*'\n":                             "",
		"[project]\nname = 'a'\n[tool.poetry.dependencies]\npython = '*'\nidna = '*'\n": "pyproject.toml:5: tool.poetry.dependencies",
	} {
		adaptertest.Put(t, root, "pyproject.toml", text)
		ans, err := newPip().Tasks(t.Context(), root)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, w := range ans.Warnings {
			if w.Rule == snapshot.RuleUntested {
				continue
			}
			_, what, _ := strings.Cut(w.Message, "does not read ")
			got += fmt.Sprintf("%s:%d: %s", adaptertest.Relative(root, w.File), w.Line, what)
		}
		if got != want {
			t.Errorf("%s\ngives %q, expected %q", text, got, want)
		}
	}
	adaptertest.Put(t, root, "poetry.lock", "")
	adaptertest.Put(t, root, "pyproject.toml", system+group)
	if ans, err := newPip().Tasks(t.Context(), root); err != nil || len(ans.Warnings) > 0 {
		t.Errorf("%+v, %v", ans.Warnings, err)
	}
}

// makePoetryLock makes the lockfile of dir. Poetry asks its own index in a way that not
// every mirror answers; as a source of the project it asks as pip does.
func makePoetryLock(t *testing.T, dir string) {
	t.Helper()
	for _, args := range [][]string{{"source", "add", "--priority=primary", "index", adaptertest.Index(t)}, {"lock", "--no-interaction"}} {
		cmd := exec.CommandContext(t.Context(), "poetry", args...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), adaptertest.Certificates()...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("poetry %q: %v\n%s", args, err, out)
		}
	}
}

func TestPoetry(t *testing.T) {
	adaptertest.Drive(t, "poetry", "python3")
	t.Parallel()
	root := adaptertest.Fixture(t, "python-poetry")
	lib, app := filepath.Join(root, "lib"), filepath.Join(root, "app")
	for _, dir := range []string{lib, app} {
		makePoetryLock(t, dir)
	}
	a := New(snapshot.Options{Env: adaptertest.Env(adaptertest.Certificates()...)})
	if log, err := adaptertest.Install(t, a, a.env, app); err != nil {
		t.Fatalf("%v\n%s", err, strings.Join(log, "\n"))
	}
	for _, task := range []string{"build", "test", "lint"} {
		if exit, said := adaptertest.Run(t, a, a.env, app, adaptertest.Task(t, a, app, task)); exit != 0 {
			t.Errorf("%s exits with %d: %s", task, exit, said)
		}
	}
	if wheels, _ := filepath.Glob(filepath.Join(app, "dist", "*.whl")); len(wheels) != 1 {
		t.Errorf("wheels: %q", wheels)
	}
	adaptertest.Put(t, root, "lib/src/example_lib/__init__.py", "def describe(value):\n    return 'broken'\n")
	if exit, said := adaptertest.Run(t, a, a.env, app, adaptertest.Task(t, a, app, "test")); exit == 0 || !strings.Contains(said, "test_the_library_is_used") {
		t.Errorf("a broken library passes: %d\n%s", exit, said)
	}
	print, err := a.ToolchainFingerprint(t.Context(), app)
	if err != nil || interpreter.Field(print, "poetry") == "" || interpreter.Field(print, "python") == "" {
		t.Errorf("%q, %v", print, err)
	}
	basis, err := a.ToolchainBasis(t.Context(), app)
	if other, err2 := a.ToolchainBasis(t.Context(), root); err != nil || err2 != nil || other == basis {
		t.Errorf("%q, %v; %v", basis, err, err2)
	}

	before := adaptertest.Lock(t, a, root, app).Digest
	if err := a.Add(t.Context(), adapters.AddRequest{DishDir: app, Packages: []string{"attrs==23.1.0"}, Dev: true, Env: childEnv(a)}, nil); err != nil {
		t.Fatal(err)
	}
	if after := adaptertest.Lock(t, a, root, app); after.Digest == before || !strings.Contains(read(t, root, "app/pyproject.toml"), "attrs") {
		t.Errorf("%+v after %s", after, before)
	}
	adaptertest.Replace(t, filepath.Join(app, "pyproject.toml"), "idna>=3", "idna>=3.1")
	_, err = adaptertest.Install(t, a, a.env, app)
	var failed *adapters.InstallError
	if !errors.As(err, &failed) || !strings.Contains(failed.Detail, "poetry.lock") {
		t.Errorf("a stale lockfile: %v", err)
	}
	if _, err := os.Stat(filepath.Join(app, environment.Mark)); err == nil {
		t.Error("a failed install left a mark")
	}
}

func read(t *testing.T, root, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
