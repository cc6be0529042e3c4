package node

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/adaptertest"
)

const npmMark = "node_modules/.package-lock.json"

// childEnv is the environment that installs and tasks of a get.
func childEnv(a *Adapter) adapters.Environ {
	m := a.Manifest()
	return a.env.Strict(append(m.PassEnv, m.SteeringEnv...)...).With(m.SetEnv)
}

// fixture copies the project of testdata/toolchains/node-npm.
func fixture(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	if err := os.CopyFS(root, os.DirFS("../../testdata/toolchains/node-npm")); err != nil {
		t.Fatal(err)
	}
	adaptertest.Put(t, root, ".git/HEAD", "")
	return root
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
		for i := range r.Path {
			env = env.WithPath(filepath.Join(dir, r.Path[len(r.Path)-1-i]))
		}
		cmd := exec.CommandContext(t.Context(), "sh", "-c", r.Run)
		cmd.Dir, cmd.Env = filepath.Join(dir, r.Cwd), env
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	t.Fatalf("%s has no task %s", dir, task)
	return "", nil
}

func mustRun(t *testing.T, a *Adapter, dir, task string) {
	t.Helper()
	if out, err := run(t, a, dir, task); err != nil {
		t.Errorf("%s: %v\n%s", task, err, out)
	}
}

func TestNPMInstallsAndRuns(t *testing.T) {
	adaptertest.Drive(t, "node", "npm")
	root, a := fixture(t), newNPM()
	lib, app := filepath.Join(root, "packages/lib"), filepath.Join(root, "packages/app")
	for _, dir := range []string{root, lib, app} {
		if ok, err := a.Detect(t.Context(), dir); !ok || err != nil {
			t.Fatalf("%s is not detected: %v", dir, err)
		}
	}
	var log []string
	if err := install(t.Context(), a, app, func(l adapters.Log) { log = append(log, l.Message) }); err != nil {
		t.Fatal(err)
	}
	if len(log) == 0 || !strings.Contains(strings.Join(log, "\n"), "added 5 packages") {
		t.Errorf("the log is %q", log)
	}
	for _, task := range []string{"build", "test"} {
		mustRun(t, a, lib, task)
	}
	for _, task := range []string{"build", "lint", "test"} {
		mustRun(t, a, app, task)
	}
	mustRun(t, a, root, "hello")

	adaptertest.Put(t, root, "packages/lib/dist/index.js", "export const describe = () => 'broken';")
	if out, err := run(t, a, app, "test"); err == nil || !strings.Contains(out, "not ok") {
		t.Errorf("a broken library passes: %v\n%s", err, out)
	}
}

func TestNPMReinstallsWhatChanged(t *testing.T) {
	adaptertest.Drive(t, "node", "npm")
	root, a := fixture(t), newNPM()
	lib := filepath.Join(root, "packages/lib")
	if err := install(t.Context(), a, lib, nil); err != nil {
		t.Fatal(err)
	}
	version := func() string {
		data, err := os.ReadFile(filepath.Join(root, "packages/lib/node_modules/is-number/package.json"))
		if err != nil {
			data, err = os.ReadFile(filepath.Join(root, "node_modules/is-number/package.json"))
		}
		if err != nil {
			return ""
		}
		return regexp.MustCompile(`"version": "([^"]*)"`).FindStringSubmatch(string(data))[1]
	}
	before := adaptertest.Stamp(t, a, lib)
	adaptertest.Put(t, root, "packages/lib/src/index.js", "changed")
	if adaptertest.Stamp(t, a, lib) != before {
		t.Error("a change of a source is one of the install")
	}
	cmd := exec.CommandContext(t.Context(), "npm", "install", "--package-lock-only", "--workspace=packages/lib", "is-number@6.0.0")
	cmd.Dir, cmd.Env = root, childEnv(a)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if adaptertest.Stamp(t, a, lib) == before {
		t.Error("a change of the lockfile is none of the install")
	}
	if got := version(); got != "7.0.0" {
		t.Fatalf("installed is %q", got)
	}

	// An install that is ended half-way is known by it, the next one heals.
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := install(ctx, a, lib, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the ended install gave %v", err)
	}
	_, err := os.Stat(filepath.Join(root, npmMark))
	if _, begun := os.Stat(filepath.Join(root, "node_modules/.bento-begun")); err == nil && begun != nil {
		t.Error("the ended install looks like a good one")
	}
	for _, dir := range []string{"node_modules/is-number", "packages/lib/node_modules"} {
		if err := os.RemoveAll(filepath.Join(root, dir)); err != nil {
			t.Fatal(err)
		}
	}
	if err := install(t.Context(), a, lib, nil); err != nil {
		t.Fatal(err)
	}
	if got := version(); got != "6.0.0" {
		t.Errorf("installed is %q", got)
	}
	if _, err := os.Stat(filepath.Join(root, npmMark)); err != nil {
		t.Error(err)
	}
}

func TestNPMFailureIsTold(t *testing.T) {
	adaptertest.Drive(t, "node", "npm")
	root, a := fixture(t), newNPM()
	adaptertest.Put(t, root, "packages/lib/package.json", `{"name": "@example/lib", "version": "1.0.0", "dependencies": {"is-number": "6.0.0"}}`)
	err := install(t.Context(), a, root, nil)
	var failed *adapters.InstallError
	if !errors.As(err, &failed) || failed.Command != "npm ci" || failed.ExitStatus != 1 || !strings.Contains(failed.Detail, "Missing: is-number@6.0.0 from lock file") || strings.Contains(failed.Detail, "--dry-run") {
		t.Errorf("a stale lockfile gave %v", err)
	}
}

func TestNPMInstallOfNothingLeavesAMark(t *testing.T) {
	adaptertest.Drive(t, "node", "npm")
	root := adaptertest.Tree(t,
		"package.json", `{"name": "a", "version": "1.0.0", "optionalDependencies": {"other": "file:other"}}`,
		"other/package.json", `{"name": "other", "version": "1.0.0", "os": ["aix"]}`)
	a := newNPM()
	if err := install(t.Context(), a, root, nil); err != nil {
		t.Fatal(err)
	}
	scope, err := a.InstallScope(t.Context(), root)
	if err != nil || len(scope.Made) != 1 {
		t.Fatalf("%+v, %v", scope, err)
	}
	if _, err := os.Stat(filepath.Join(root, scope.Made[0])); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(root, "package-lock.json")); err == nil {
		t.Error("an install without a lockfile wrote one")
	}
	if err := install(t.Context(), a, root, nil); err != nil {
		t.Errorf("npm does not take the mark: %v", err)
	}
}

func TestNPMFingerprint(t *testing.T) {
	adaptertest.Drive(t, "node", "npm")
	a, dir := newNPM(), t.TempDir()
	got, err := a.ToolchainFingerprint(t.Context(), dir)
	if err != nil || !regexp.MustCompile(`^node=v\d+\.\d+\.\d+\S* npm=\d+\.\d+\.\d+\S*$`).MatchString(got) {
		t.Errorf("%q, %v", got, err)
	}
	one, err := a.ToolchainBasis(t.Context(), dir)
	two, err2 := a.ToolchainBasis(t.Context(), t.TempDir())
	if err != nil || err2 != nil || one != two || !strings.Contains(one, "npm") {
		t.Errorf("%q, %v\n%q, %v", one, err, two, err2)
	}
}
