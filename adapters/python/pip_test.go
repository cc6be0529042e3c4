package python

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/adaptertest"
	"github.com/bentobuild/bento/adapters/python/environment"
	"github.com/bentobuild/bento/adapters/python/interpreter"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/internal/clone"
	"github.com/bentobuild/bento/internal/probe"
)

// childEnv is the environment that installs and tasks of a get.
func childEnv(a *Adapter) adapters.Environ {
	m := a.Manifest()
	return a.env.Strict(slices.Concat(m.PassEnv, m.SteeringEnv)...).With(m.SetEnv)
}

func install(ctx context.Context, a *Adapter, dir string, log adapters.LogFunc) error {
	scope, err := a.InstallScope(ctx, dir)
	if err != nil {
		return err
	}
	return a.Install(ctx, adapters.InstallRequest{DishDir: dir, Scope: scope, Env: childEnv(a), Claims: adaptertest.Claims(scope.Dir)}, log)
}

// run runs a recipe as bento does, in the strict environment.
func run(t *testing.T, a *Adapter, dir, task string) (output string, err error) {
	t.Helper()
	ans, err := a.Tasks(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range ans.Tasks {
		if r.Name != task {
			continue
		}
		env := childEnv(a).With(r.Env)
		for _, p := range r.Path {
			env = env.WithPath(filepath.Join(dir, p))
		}
		cmd := exec.CommandContext(t.Context(), "sh", "-c", r.Run)
		cmd.Dir, cmd.Env = dir, env
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	t.Fatalf("%s has no task %s", dir, task)
	return "", nil
}

func mustRun(t *testing.T, a *Adapter, dir, task string) {
	t.Helper()
	if out, err := run(t, a, dir, task); err != nil {
		t.Errorf("%s of %s: %v\n%s", task, dir, err, out)
	}
}

// installed returns the version of a package in the environment of dir.
func installed(t *testing.T, dir, name string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), filepath.Join(dir, environment.Bin, "python"), "-c",
		"import importlib.metadata as m, sys; print(m.version(sys.argv[1]))", name).Output()
	if err != nil {
		return err.Error()
	}
	return strings.TrimSpace(string(out))
}

func TestPip(t *testing.T) {
	adaptertest.Drive(t, "python3")
	t.Parallel()
	root := t.TempDir()
	if err := os.CopyFS(root, os.DirFS("../../testdata/toolchains/python")); err != nil {
		t.Fatal(err)
	}
	adaptertest.Put(t, root, ".git/HEAD", "")
	a, lib, app := newPip(), filepath.Join(root, "lib"), filepath.Join(root, "app")

	t.Run("install", func(t *testing.T) {
		// Both build the library; that they do it at once must not matter.
		var wait sync.WaitGroup
		for _, dir := range []string{lib, app} {
			wait.Go(func() {
				var log []string
				if err := install(t.Context(), a, dir, func(l adapters.Log) { log = append(log, l.Message) }); err != nil {
					t.Error(err)
				} else if !strings.Contains(strings.Join(log, "\n"), "Successfully installed") {
					t.Errorf("the log is %q", log)
				}
			})
		}
		wait.Wait()
	})
	t.Run("recipes", func(t *testing.T) {
		mustRun(t, a, lib, "build")
		if wheels, _ := filepath.Glob(filepath.Join(lib, "dist", "example_lib-1.0.0-*.whl")); len(wheels) != 1 {
			t.Errorf("wheels: %q", wheels)
		}
		mustRun(t, a, lib, "test")
		mustRun(t, a, app, "test")
		if caches, _ := filepath.Glob(filepath.Join(root, "*", "tests", "__pycache__")); caches != nil {
			t.Errorf("bytecode is left: %q", caches)
		}
		adaptertest.Put(t, root, "lib/src/example_lib/__init__.py", "def describe(value):\n    return 'broken'\n")
		if out, err := run(t, a, app, "test"); err == nil || !strings.Contains(out, "test_the_library_is_used") {
			t.Errorf("a broken library passes: %v\n%s", err, out)
		}
	})
	t.Run("what decides the install", func(t *testing.T) {
		before, appBefore := adaptertest.Stamp(t, a, lib), adaptertest.Stamp(t, a, app)
		adaptertest.Put(t, root, "lib/src/example_lib/other.py", "")
		if adaptertest.Stamp(t, a, lib) != before {
			t.Error("a new source is a change of the install")
		}
		adaptertest.Put(t, root, "lib/setup.cfg", "")
		if adaptertest.Stamp(t, a, lib) == before || adaptertest.Stamp(t, a, app) == appBefore {
			t.Error("a new manifest is no change of the install, of the library or of what uses it")
		}
	})
}

func TestPipMakesAnewWhatChangedOrWasInterrupted(t *testing.T) {
	adaptertest.Drive(t, "python3")
	t.Parallel()
	dir := adaptertest.Tree(t, "requirements.txt", "six==1.17.0\n")
	a := newPip()
	before := adaptertest.Stamp(t, a, dir)
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	if err := install(ctx, a, dir, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("an install that was ended gave %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, environment.Mark)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("an install that was ended left a mark: %v", err)
	}

	adaptertest.Claims(dir).Begin([]string{filepath.Join(dir, environment.Dir)}) // it may have ended before that
	adaptertest.Put(t, dir, ".venv/left/behind", "")
	adaptertest.Put(t, dir, "requirements.txt", "six==1.16.0\n")
	if adaptertest.Stamp(t, a, dir) == before {
		t.Error("a new requirement is no change of the install")
	}
	var warned bool
	if err := install(t.Context(), a, dir, func(l adapters.Log) { warned = warned || l.Level == "warn" }); err != nil {
		t.Fatal(err)
	}
	if got := installed(t, dir, "six"); got != "1.16.0" || !warned {
		t.Errorf("installed is six %s; warned: %v", got, warned)
	}
	if _, err := os.Stat(filepath.Join(dir, ".venv/left")); err == nil {
		t.Error("the unfinished environment was used")
	}
	if _, err := os.Stat(filepath.Join(dir, environment.Mark)); err != nil {
		t.Error(err)
	}
}

// TestPinsThatNameTheProject: pip refuses pins that contain the project itself when it resolves them
// together with it.
func TestPinsThatNameTheProject(t *testing.T) {
	adaptertest.Drive(t, "python3")
	t.Parallel()
	dir := adaptertest.Tree(t, "setup.py", "from setuptools import setup\nsetup(name='six', version='9.0', py_modules=[])\n",
		"pyproject.toml", buildSystem, "requirements.txt", "six==1.16.0\n")
	a := newPip()
	if err := install(t.Context(), a, dir, nil); err != nil {
		t.Fatal(err)
	}
	if got := installed(t, dir, "six"); got != "9.0" {
		t.Errorf("installed is six %s, want the project's 9.0", got)
	}
	ans, err := a.Tasks(t.Context(), dir)
	if want := []string{"an install takes the pins of requirements.txt first, then the project"}; err != nil || !slices.Equal(ans.Notes, want) {
		t.Errorf("notes %q (%v), want %q", ans.Notes, err, want)
	}
}

func TestVirtualEnvironmentOfTheDishIsNoBase(t *testing.T) {
	adaptertest.Drive(t, "python3")
	dir := adaptertest.Tree(t, "requirements.txt", "")
	if out, err := exec.CommandContext(t.Context(), "python3", "-m", "venv", "--without-pip", filepath.Join(dir, environment.Dir)).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	env := newPip().env.WithPath(filepath.Join(dir, environment.Bin))
	path, err := interpreter.Find(env)
	if err != nil {
		t.Fatal(err)
	}
	at := probe.At{Dir: dir, Path: path, Leave: adapters.InstallRequest{}.Leave()}
	got, err := interpreter.Locate(t.Context(), probe.New(snapshot.Options{Clone: clone.At(dir)}.Source(), env), at)
	if err != nil || strings.HasPrefix(got, dir) || !filepath.IsAbs(got) {
		t.Errorf("%q, %v", got, err)
	}
}

func TestScaffold(t *testing.T) {
	adaptertest.Drive(t, "python3")
	t.Parallel()
	a := newPip()
	adaptertest.ScaffoldWorks(t, a, a.env)
}
