package cargo_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/cargo"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/proc"
)

// osEnv is the environment of this test with set on top.
func osEnv(set ...string) adapters.Environ {
	return adapters.NewEnviron(append(os.Environ(), set...))
}

// files writes a txtar archive under a new directory that counts as a repository,
// and gives its path.
func files(t *testing.T, archive string) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(root, ".git", "HEAD"), "")
	for _, f := range txtar.Parse([]byte(archive)).Files {
		write(t, filepath.Join(root, filepath.FromSlash(f.Name)), string(f.Data))
	}
	return root
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// replaceIn replaces text in a file.
func replaceIn(t *testing.T, path, old, new string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(data), old) {
		t.Fatalf("%s does not hold %q", path, old)
	}
	write(t, path, strings.ReplaceAll(string(data), old, new))
}

// shelf copies the fixture of two packages, app with a path dependency on lib.
func shelf(t *testing.T) string {
	t.Helper()
	root := files(t, "")
	if err := os.CopyFS(root, os.DirFS("../../testdata/toolchains/cargo")); err != nil {
		t.Fatal(err)
	}
	return root
}

// lock lets cargo write the lockfiles of the fixture: they name where crates come
// from, so they are not part of it.
func lock(t *testing.T, dirs ...string) {
	t.Helper()
	tool, err := osEnv().LookPath("cargo")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range dirs {
		spec := proc.Spec{Argv: []string{tool, "generate-lockfile"}, Dir: dir, Env: osEnv(), Timeout: time.Minute}
		_, said, res, err := proc.Output(t.Context(), spec, 1<<20)
		if err != nil || res.ExitCode != 0 { // perhaps what it needs is already here
			spec.Argv = append(spec.Argv, "--offline")
			_, said, res, err = proc.Output(t.Context(), spec, 1<<20)
		}
		if err != nil || res.ExitCode != 0 {
			lack(t, "the crate itoa cannot be had: %v %s", err, said)
		}
	}
}

// need skips a test that cannot run without a tool.
func need(t *testing.T, tool string) {
	t.Helper()
	if _, err := osEnv().LookPath(tool); err != nil {
		lack(t, "%s is not installed", tool)
	}
}

// lack skips a test, or fails it where everything has to be there.
func lack(t *testing.T, format string, args ...any) {
	t.Helper()
	if os.Getenv("BENTO_REQUIRE_TOOLS") == "1" {
		t.Fatalf(format, args...)
	}
	t.Skipf(format, args...)
}

// tasks asks for the tasks of dir and fails the test on an error.
func tasks(t *testing.T, a *cargo.Adapter, dir string) adapters.TasksAnswer {
	t.Helper()
	answer, err := a.Tasks(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

func task(t *testing.T, a *cargo.Adapter, dir, name string) adapters.Task {
	t.Helper()
	for _, task := range tasks(t, a, dir).Tasks {
		if task.Name == name {
			return task
		}
	}
	t.Fatalf("%s has no task %q", dir, name)
	return adapters.Task{}
}

// links asks for the links of dir with paths relative to root.
func links(t *testing.T, a *cargo.Adapter, root, dir string) []adapters.Link {
	t.Helper()
	answer, err := a.Links(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	for i := range answer.Links {
		l := &answer.Links[i]
		l.File = relative(root, l.File)
		l.Package = strings.ReplaceAll(l.Package, root, "ROOT")
		if l.Dir != "" {
			l.Dir = relative(root, l.Dir)
		}
	}
	return answer.Links
}

func relative(root, path string) string {
	rel, err := filepath.Rel(root, path)
	if err != nil {
		return path
	}
	return filepath.ToSlash(rel)
}

// runTask runs a recipe as bento does, with the strict environment.
func runTask(t *testing.T, a *cargo.Adapter, env adapters.Environ, dir string, task adapters.Task) (exit int, output string) {
	t.Helper()
	m := a.Manifest()
	env = env.Strict(append(m.PassEnv[:len(m.PassEnv):len(m.PassEnv)], m.SteeringEnv...)...).With(m.SetEnv).With(task.Env)
	spec := proc.Spec{Argv: []string{"/bin/sh", "-c", task.Run}, Dir: dir, Env: env, Timeout: 2 * time.Minute}
	out, errText, res, err := proc.Output(context.WithoutCancel(t.Context()), spec, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	return res.ExitCode, string(out) + string(errText)
}

// where gives the places of the problems in err, relative to root.
func where(t *testing.T, root string, err error) string {
	t.Helper()
	var p diagnostics.Problems
	if !errors.As(err, &p) {
		t.Fatalf("%v: not problems with a place", err)
	}
	var at []string
	for _, d := range p {
		d.File = relative(root, d.File)
		at = append(at, d.String())
	}
	return strings.Join(at, "\n")
}
