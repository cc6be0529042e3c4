package adaptertest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/proc"
)

// Tasks returns the recipes of dir and fails the test on an error.
func Tasks(t testing.TB, a adapters.Adapter, dir string) adapters.TasksAnswer {
	t.Helper()
	answer, err := adapters.Tasks(t.Context(), a, dir)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

// Task returns one recipe of dir and fails the test when it is missing.
func Task(t testing.TB, a adapters.Adapter, dir, name string) adapters.Task {
	t.Helper()
	for _, task := range Tasks(t, a, dir).Tasks {
		if task.Name == name {
			return task
		}
	}
	t.Fatalf("%s has no task %q", dir, name)
	return adapters.Task{}
}

// Runs returns the commands of the recipes of dir by name. The names of scripts are in
// brackets.
func Runs(t testing.TB, a adapters.Adapter, dir string) map[string]string {
	t.Helper()
	runs := make(map[string]string)
	for _, task := range Tasks(t, a, dir).Tasks {
		runs[task.Name] = task.Run
		if task.Script {
			runs[task.Name] = "(" + task.Run + ")"
		}
	}
	return runs
}

// Links returns the links of dir. Files and directories are relative to root, and ROOT
// replaces it in the names of packages.
func Links(t testing.TB, a adapters.Adapter, root, dir string) []adapters.Link {
	t.Helper()
	answer, err := adapters.Links(t.Context(), a, dir)
	if err != nil {
		t.Fatal(err)
	}
	links := slices.Clone(answer.Links)
	for i := range links {
		l := &links[i]
		l.File = Relative(root, l.File)
		l.Package = strings.ReplaceAll(l.Package, root, "ROOT")
		if l.Dir != "" {
			l.Dir = Relative(root, l.Dir)
		}
	}
	return links
}

// Lock returns the lock answer for dir, with the file relative to root.
func Lock(t testing.TB, a adapters.Adapter, root, dir string) adapters.LockAnswer {
	t.Helper()
	answer, err := adapters.LockDigest(t.Context(), a, dir)
	if err != nil {
		t.Fatal(err)
	}
	if answer.File != "" {
		answer.File = Relative(root, answer.File)
	}
	return answer
}

// TaskEnv returns the environment that bento passes to the tasks of an adapter, made from
// env.
func TaskEnv(a adapters.Adapter, env adapters.Environ) adapters.Environ {
	m := a.Manifest()
	return env.Strict(slices.Concat(m.PassEnv, m.SteeringEnv)...).With(m.SetEnv)
}

// Run runs a recipe as bento does. It returns the exit code and the output, stdout first.
func Run(t testing.TB, a adapters.Adapter, env adapters.Environ, dir string, task adapters.Task) (exit int, output string) {
	t.Helper()
	path := make([]string, len(task.Path))
	for i, p := range task.Path {
		path[i] = filepath.Join(dir, p)
	}
	env = TaskEnv(a, env).With(task.Env).WithPath(path...)
	spec := proc.Spec{Argv: []string{"/bin/sh", "-c", task.Run}, Dir: filepath.Join(dir, task.Cwd), Env: env, Timeout: 5 * time.Minute}
	out, errText, res, err := proc.Output(context.WithoutCancel(t.Context()), spec, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	return res.ExitCode, string(out) + string(errText)
}

// Install installs dir as bento does and returns the log.
func Install(t testing.TB, a adapters.Adapter, env adapters.Environ, dir string) (log []string, err error) {
	t.Helper()
	scope, err := adapters.InstallScope(t.Context(), a, dir)
	if err != nil {
		t.Fatal(err)
	}
	req := adapters.InstallRequest{DishDir: dir, DishName: filepath.Base(dir), Scope: scope, Env: TaskEnv(a, env), Claims: Claims(scope.Dir)}
	err = a.Install(t.Context(), req, func(l adapters.Log) { log = append(log, l.Message) })
	return log, err
}

// Claims returns the claims of the install scope in dir, saved beside it.
func Claims(dir string) *adapters.Claims {
	file := dir + ".claims"
	text, _ := os.ReadFile(file) // without it there are none
	c := adapters.ReadClaims(text)
	c.Keep = func(text []byte) { _ = os.WriteFile(file, text, 0o600) }
	return c
}

// Scaffold writes the smallest project of a and returns its directory, called name.
func Scaffold(t testing.TB, a adapters.Adapter, name string) string {
	t.Helper()
	files, err := adapters.Scaffold(a, name)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(Project(t, ""), name)
	for _, f := range files {
		path := filepath.Join(dir, filepath.FromSlash(f.Path))
		Write(t, path, string(f.Data))
		if f.Mode != 0 {
			if err := os.Chmod(path, f.Mode); err != nil {
				t.Fatal(err)
			}
		}
	}
	return dir
}

// ScaffoldWorks writes the smallest project of a, installs it and runs the recipes with
// these names. Each has to exist and succeed.
func ScaffoldWorks(t testing.TB, a adapters.Adapter, env adapters.Environ, tasks ...string) {
	t.Helper()
	dir := Scaffold(t, a, "small-one")
	if yes, err := a.Detect(t.Context(), dir); !yes || err != nil {
		t.Fatalf("a new project is not detected: %v", err)
	}
	if scope, err := adapters.InstallScope(t.Context(), a, dir); err != nil {
		t.Fatal(err)
	} else if !scope.Nothing {
		if log, err := Install(t, a, env, dir); err != nil {
			t.Fatalf("install: %v\n%s", err, strings.Join(log, "\n"))
		}
	}
	for _, name := range tasks {
		if exit, output := Run(t, a, env, dir, Task(t, a, dir, name)); exit != 0 {
			t.Errorf("%s exits with %d: %s", name, exit, output)
		}
	}
}

// Stamp returns a text that changes with the files and the command of an install.
func Stamp(t testing.TB, a adapters.Adapter, dir string) string {
	t.Helper()
	scope, err := adapters.InstallScope(t.Context(), a, dir)
	if err != nil {
		t.Fatal(err)
	}
	h := sha256.New()
	for _, path := range scope.Files {
		data, err := os.ReadFile(path)
		fmt.Fprintf(h, "%s %v %q", path, err, data)
	}
	return hex.EncodeToString(h.Sum(nil)) + scope.Command
}

// Pins returns a pin and the further ones as text.
func Pins(root string, pin *adapters.Toolchain) string {
	var list []string
	for p := pin; p != nil; {
		at := p.Tool + " " + p.Version + " " + Relative(root, p.File) + ":" + strconv.Itoa(p.Line)
		if p.Strict {
			at += " strict"
		}
		list = append(list, at)
		if len(list) > len(pin.More) {
			break
		}
		p = &pin.More[len(list)-1]
	}
	return strings.Join(list, ", ")
}

// AskAll asks everything that bento asks about each directory, and returns the number of links.
func AskAll(tb testing.TB, a adapters.Adapter, dirs []string) (links int) {
	for _, dir := range dirs {
		if _, err := adapters.Tasks(tb.Context(), a, dir); err != nil {
			tb.Fatal(err)
		}
		if _, err := a.RequiredToolchain(tb.Context(), dir); err != nil {
			tb.Fatal(err)
		}
		l, err := adapters.Links(tb.Context(), a, dir)
		if err != nil {
			tb.Fatal(err)
		}
		if _, err := adapters.InstallScope(tb.Context(), a, dir); err != nil {
			tb.Fatal(err)
		}
		links += len(l.Links)
	}
	return links
}

// Scope returns the install scope of dir, with paths relative to root.
func Scope(t testing.TB, a adapters.Adapter, root, dir string) adapters.Scope {
	t.Helper()
	s, err := adapters.InstallScope(t.Context(), a, dir)
	if err != nil {
		t.Fatal(err)
	}
	s.Dir, s.Reads = Relative(root, s.Dir), nil
	for i, file := range s.Files {
		s.Files[i] = Relative(root, file)
	}
	return s
}
