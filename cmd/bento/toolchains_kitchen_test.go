package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/adaptertest"
	"github.com/bentobuild/bento/diagnostics"
)

// kitchen is the workspace of one row, with its own home and cache. The tools use the caches of the machine, to
// save downloads.
type kitchen struct {
	t     *testing.T // of the row
	tc    *toolchain
	ws    string // the workspace
	home  string
	env   adapters.Environ
	times []string
}

// newKitchen copies the project of a row and adds the unrelated dish aside.
func newKitchen(t *testing.T, tc *toolchain) *kitchen {
	t.Helper()
	if tc.lib == "" {
		tc.lib, tc.app = "lib", "app"
	}
	fixture := tc.fixture
	if fixture == "" {
		fixture = tc.id
	}
	k := &kitchen{t: t, tc: tc, ws: adaptertest.Fixture(t, fixture), home: t.TempDir()}
	// bento.toml marks the root. The .git of the fixture is no valid repository, which confuses tools.
	if err := os.RemoveAll(k.path(".git")); err != nil {
		t.Fatal(err)
	}
	k.write("bento.toml", "")
	k.write("aside/dish.toml", "name = \"aside\"\nlanguage = \"none\"\n[tasks.build]\nrun = \"true\"\n")
	k.env = toolEnv(k.home)
	if tc.env != nil {
		for _, kv := range tc.env(k) {
			name, value, _ := strings.Cut(kv, "=")
			if name == "PATH" {
				k.env = k.env.WithPath(value)
			} else {
				k.env = k.env.With(map[string]string{name: value})
			}
		}
	}
	if tc.prepare != nil {
		tc.prepare(k)
	}
	return k
}

// toolEnv returns the environment of the test with a new home, and the caches of the tools from the old home.
func toolEnv(home string) adapters.Environ {
	// An optimizing compiler does not pay off in short runs, and the verification of classes takes a
	// seventh of the time of Maven and Gradle.
	const quick = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:MetaspaceSize=128m -XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"
	set := map[string]string{
		"HOME": home, "BENTO_CACHE_DIR": filepath.Join(home, "cache"),
		"GIT_CONFIG_GLOBAL": os.DevNull, "GIT_CONFIG_NOSYSTEM": "1",
		"MAVEN_OPTS": "-DforkCount=0 " + quick, "GRADLE_OPTS": quick,
		// The interpreter compiles the few modules that are imported. pip would compile them all.
		"PIP_NO_COMPILE": "1",
	}
	homes := toolHomes()
	if old, err := os.UserHomeDir(); err == nil {
		for name, dir := range map[string]string{
			"UV_CACHE_DIR": ".cache/uv", "POETRY_CACHE_DIR": ".cache/pypoetry", "COMPOSER_CACHE_DIR": ".cache/composer",
			"GRADLE_USER_HOME": ".gradle", "DENO_DIR": ".cache/deno", "BUN_INSTALL_CACHE_DIR": ".bun/install/cache",
			"YARN_GLOBAL_FOLDER": ".yarn/berry", "YARN_CACHE_FOLDER": ".cache/yarn",
		} {
			homes[name] = filepath.Join(old, dir)
		}
	}
	for name, dir := range homes {
		if os.Getenv(name) == "" {
			set[name] = dir
		}
	}
	return adapters.NewEnviron(os.Environ()).With(set)
}

// path returns the absolute path of a name, which is relative to the workspace, or to the home if it starts with
// $HOME/.
func (k *kitchen) path(name string) string {
	if below, ok := strings.CutPrefix(name, "$HOME/"); ok {
		return filepath.Join(k.home, filepath.FromSlash(below))
	}
	return filepath.Join(k.ws, filepath.FromSlash(name))
}

func (k *kitchen) write(name, text string) {
	k.t.Helper()
	adaptertest.Write(k.t, k.path(name), text)
}

func (k *kitchen) read(name string) string {
	k.t.Helper()
	data, err := os.ReadFile(k.path(name))
	if err != nil {
		k.t.Fatal(err)
	}
	return string(data)
}

// make applies an edit and returns a function that reverts it.
func (k *kitchen) make(e edit) (undo func()) {
	k.t.Helper()
	if e.file == "" {
		k.t.Fatal("the row lacks an edit")
	}
	before, err := os.ReadFile(k.path(e.file))
	switch {
	case e.old == "":
		k.write(e.file, e.new)
	case strings.Contains(string(before), e.old):
		k.write(e.file, strings.Replace(string(before), e.old, e.new, 1))
	default:
		k.t.Fatalf("%s does not hold %q: %v", e.file, e.old, err)
	}
	return func() {
		if errors.Is(err, os.ErrNotExist) {
			os.Remove(k.path(e.file))
			return
		}
		k.write(e.file, string(before))
	}
}

// tool runs a tool in a directory of the workspace and returns its output. The tool must succeed.
func (k *kitchen) tool(dir string, argv ...string) string {
	k.t.Helper()
	path, err := k.env.LookPath(argv[0])
	if err != nil {
		k.t.Fatal(err)
	}
	cmd := exec.Command(path, argv[1:]...)
	cmd.Dir, cmd.Env = k.path(dir), k.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		k.t.Fatalf("%s: %v\n%s", strings.Join(argv, " "), err, out)
	}
	return string(out)
}

// served is the result of a bento command.
type served struct {
	exit   int
	stderr string

	Kind    string `json:"kind"`
	Message string `json:"message"`
	Errors  []diagnostics.Diagnostic
	Bentos  []struct{ Dishes []servedDish }
	Summary struct{ Tasks, Hits, Built, Failed, Skipped, Installs int }
}

type servedDish struct {
	Name, Path string
	Language   *string
	Install    *struct{ Reason, Error string }
	Tasks      []servedTask
}

type servedTask struct {
	Name    string
	Status  string // of plan
	Unfit   string // of plan
	Place   string
	Outcome struct {
		Kind    string
		Message string
		Stderr  string `json:"stderr_excerpt"`
	}
	Output      string `json:"output_excerpt"`
	Diagnostics []diagnostics.Diagnostic
}

// bento runs bento in the workspace with --json.
func (k *kitchen) bento(args ...string) *served {
	k.t.Helper()
	cmd := k.command(append(args, "--json")...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		k.t.Fatal(err)
	}
	a := &served{exit: cmd.ProcessState.ExitCode(), stderr: errs.String()}
	if err := json.Unmarshal(out.Bytes(), a); err != nil {
		k.t.Fatalf("bento %s: %v\n%s%s", strings.Join(args, " "), err, out.String(), a.stderr)
	}
	return a
}

func (k *kitchen) command(args ...string) *exec.Cmd {
	cmd := exec.Command(builtBento(k.t), args...)
	cmd.Dir, cmd.Env = k.ws, k.env
	return cmd
}

// ci runs all tasks with --keep-going.
func (k *kitchen) ci(args ...string) *served {
	k.t.Helper()
	return k.bento(append([]string{"ci", "--keep-going"}, args...)...)
}

// good runs all tasks, which must succeed.
func (k *kitchen) good(args ...string) *served {
	k.t.Helper()
	a := k.ci(args...)
	if a.exit != 0 {
		k.t.Fatalf("bento ci exits with %d:\n%s", a.exit, a.stderr)
	}
	return a
}

// each calls f with the id of every task.
func (a *served) each(f func(id string, t *servedTask)) {
	for _, b := range a.Bentos {
		for _, d := range b.Dishes {
			for i := range d.Tasks {
				f(d.Name+":"+d.Tasks[i].Name, &d.Tasks[i])
			}
		}
	}
}

// dishes returns all dishes.
func (a *served) dishes() (list []servedDish) {
	for _, b := range a.Bentos {
		list = append(list, b.Dishes...)
	}
	return list
}

// ids returns the tasks whose outcome is kind, or all tasks if kind is "", without the tasks of the dish aside.
func (a *served) ids(kind string) []string {
	var ids []string
	a.each(func(id string, t *servedTask) {
		if !strings.HasPrefix(id, "aside:") && (kind == "" || t.Outcome.Kind == kind) {
			ids = append(ids, id)
		}
	})
	slices.Sort(ids)
	return ids
}

// misses returns the tasks that are no cache hits in a plan, without the tasks of the dish aside.
func (a *served) misses() []string {
	var ids []string
	a.each(func(id string, t *servedTask) {
		if !strings.HasPrefix(id, "aside:") && t.Status != "cache_hit" {
			ids = append(ids, id)
		}
	})
	slices.Sort(ids)
	return ids
}

// task returns the task with an id, nil if there is none.
func (a *served) task(id string) (found *servedTask) {
	a.each(func(other string, t *servedTask) {
		if other == id {
			found = t
		}
	})
	return found
}

// of returns the ids of tasks that belong to one of dishes.
func of(ids []string, dishes ...string) []string {
	var list []string
	for _, id := range ids {
		if dish, _, _ := strings.Cut(id, ":"); slices.Contains(dishes, dish) {
			list = append(list, id)
		}
	}
	return list
}

// step runs a step as a subtest and records its time.
func (k *kitchen) step(name string, take func()) bool {
	row := k.t
	start := time.Now()
	ok := row.Run(name, func(t *testing.T) {
		k.t = t
		take()
	})
	k.t = row
	k.times = append(k.times, time.Since(start).Round(10*time.Millisecond).String())
	return ok
}
