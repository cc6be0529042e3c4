package uv

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/adaptertest"
	"github.com/bentobuild/bento/adapters/python/environment"
	"github.com/bentobuild/bento/adapters/python/interpreter"
	"github.com/bentobuild/bento/adapters/snapshot"
)

// lock makes the lockfile, which names the registry and so is not committed.
func lock(t *testing.T, root string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "uv", append([]string{"lock"}, args...)...)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("uv lock: %v\n%s", err, out)
	}
}

// inode reports two files of the same name apart.
func inode(t *testing.T, path string) os.FileInfo {
	t.Helper()
	fi, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return fi
}

func TestSync(t *testing.T) {
	adaptertest.Drive(t, "uv", "python3")
	t.Parallel()
	root := adaptertest.Fixture(t, "python-uv")
	lock(t, root)
	env := adaptertest.Env()
	a := New(snapshot.Options{Env: env})
	lib, app := filepath.Join(root, "packages/lib"), filepath.Join(root, "packages/app")
	install := func(t *testing.T) (log string) {
		t.Helper()
		lines, err := adaptertest.Install(t, a, env, app)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(lines, "\n")
	}
	mustRun := func(t *testing.T, dir, task string) {
		t.Helper()
		if exit, said := adaptertest.Run(t, a, env, dir, adaptertest.Task(t, a, dir, task)); exit != 0 {
			t.Errorf("%s of %s exits with %d: %s", task, dir, exit, said)
		}
	}

	t.Run("recipes", func(t *testing.T) {
		if log := install(t); !strings.Contains(log, "+ six==1.17.0") || !strings.Contains(log, "+ ruff==") {
			t.Errorf("the log is %q", log)
		}
		for _, dir := range []string{lib, app} {
			for _, task := range []string{"build", "test", "lint"} {
				mustRun(t, dir, task)
			}
			if wheels, _ := filepath.Glob(filepath.Join(dir, "dist", "*.whl")); len(wheels) != 1 {
				t.Errorf("wheels of %s: %q", dir, wheels)
			}
		}
		if _, err := os.Stat(filepath.Join(root, "dist")); err == nil {
			t.Error("a build of a member writes at the root")
		}
	})
	six := filepath.Join(root, environment.Dir, "lib/python*/site-packages/six.py")
	found, _ := filepath.Glob(six)
	if len(found) != 1 {
		t.Fatalf("%s: %q", six, found)
	}
	six = found[0]
	t.Run("a finished environment is kept", func(t *testing.T) {
		before := inode(t, six)
		install(t)
		if !os.SameFile(before, inode(t, six)) {
			t.Error("it was made from scratch")
		}
	})
	t.Run("an unfinished one is not", func(t *testing.T) {
		for name, change := range map[string]func(){
			"no mark":          func() { os.Remove(filepath.Join(root, environment.Mark)) },
			"another mark":     func() { adaptertest.Write(t, filepath.Join(root, environment.Mark), "made by bento with uv and /x\n") },
			"something in it":  func() { os.Remove(filepath.Join(root, environment.Python)) },
			"nothing is there": func() { os.RemoveAll(filepath.Join(root, ".venv")) },
		} {
			change()
			install(t)
			if _, err := os.Stat(six); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			mustRun(t, lib, "test")
		}
	})
	t.Run("force repairs, and the store stays as it is", func(t *testing.T) {
		stored, err := os.ReadFile(six)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(six); err != nil {
			t.Fatal(err)
		}
		install(t)
		if _, err := os.Stat(six); err == nil {
			t.Log("uv repairs by itself now")
		}
		err = a.Install(t.Context(), adapters.InstallRequest{DishDir: lib, Env: adaptertest.TaskEnv(a, env), Force: true, Claims: adaptertest.Claims(root)}, nil)
		got, readErr := os.ReadFile(six)
		if err != nil || readErr != nil || string(got) != string(stored) {
			t.Errorf("%v, %v", err, readErr)
		}
	})
	t.Run("interrupted", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		err := a.Install(ctx, adapters.InstallRequest{DishDir: lib, Env: adaptertest.TaskEnv(a, env), Claims: adaptertest.Claims(root)}, nil)
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
		install(t)
		mustRun(t, app, "test")
	})
	t.Run("a stale lockfile", func(t *testing.T) {
		adaptertest.Replace(t, filepath.Join(lib, "pyproject.toml"), "six==1.17.0", "six==1.16.0")
		_, err := adaptertest.Install(t, a, env, app)
		var failed *adapters.InstallError
		if !errors.As(err, &failed) || !strings.Contains(failed.Detail, "needs to be updated") || !strings.Contains(failed.Command, "uv sync") {
			t.Fatalf("%v", err)
		}
		if _, err := os.Stat(filepath.Join(root, environment.Mark)); err == nil {
			t.Error("a failed install left a mark")
		}
		before := map[string]string{"lib": adaptertest.Lock(t, a, root, lib).Digest, "app": adaptertest.Lock(t, a, root, app).Digest}
		lock(t, root)
		if adaptertest.Lock(t, a, root, lib).Digest == before["lib"] || adaptertest.Lock(t, a, root, app).Digest == before["app"] {
			t.Error("the digests are the same with another six")
		}
		libDigest := adaptertest.Lock(t, a, root, lib).Digest
		lock(t, root, "--upgrade-package", "idna==3.9")
		if adaptertest.Lock(t, a, root, lib).Digest != libDigest {
			t.Error("the library has nothing to do with idna")
		}
		if log := install(t); !strings.Contains(log, "six==1.16.0") || !strings.Contains(log, "idna==3.9") {
			t.Errorf("%s", log)
		}
	})
	t.Run("add", func(t *testing.T) {
		for _, dev := range []bool{false, true} {
			pkg := "attrs"
			if dev {
				pkg = "iniconfig"
			}
			req := adapters.AddRequest{DishDir: lib, Packages: []string{pkg}, Dev: dev, Env: adaptertest.TaskEnv(a, env)}
			if err := a.Add(t.Context(), req, nil); err != nil {
				t.Fatal(err)
			}
			manifest, _ := os.ReadFile(filepath.Join(lib, "pyproject.toml"))
			lockfile, _ := os.ReadFile(filepath.Join(root, "uv.lock"))
			if !strings.Contains(string(manifest), pkg) || !strings.Contains(string(lockfile), `name = "`+pkg+`"`) {
				t.Errorf("%s is not there:\n%s", pkg, manifest)
			}
		}
		install(t)
	})
}

func TestScaffold(t *testing.T) {
	adaptertest.Drive(t, "uv", "python3")
	t.Parallel()
	env := adaptertest.Env()
	adaptertest.ScaffoldWorks(t, New(snapshot.Options{Env: env}), env)
}

func TestFingerprint(t *testing.T) {
	adaptertest.Drive(t, "uv", "python3")
	root := adaptertest.Project(t, workspace)
	a := newUV()
	print, err := a.ToolchainFingerprint(t.Context(), filepath.Join(root, "packages/lib"))
	if err != nil || !regexp.MustCompile(`^uv=\d+\.\d+\.\d+\S* python=3\.\d+\.\d+\S* implementation=\w+ abi=\S+ platform=\S+$`).MatchString(print) {
		t.Errorf("%q, %v", print, err)
	}
	one, err := a.ToolchainBasis(t.Context(), filepath.Join(root, "packages/lib"))
	two, err2 := a.ToolchainBasis(t.Context(), filepath.Join(root, "packages/app"))
	if err != nil || err2 != nil || one != two || !strings.Contains(one, "/uv") || !strings.Contains(one, "python3") {
		t.Errorf("%q, %v\n%q, %v", one, err, two, err2)
	}
	adaptertest.Write(t, filepath.Join(root, ".python-version"), "3.97\n")
	// One adapter trusts what it saw for a second.
	if three, err := newUV().ToolchainBasis(t.Context(), root); err != nil || three == one {
		t.Errorf("a new .python-version changes nothing: %v", err)
	}
	print, err = a.ToolchainFingerprint(t.Context(), root)
	if err != nil || interpreter.Field(print, "python") != interpreter.None {
		t.Errorf("%q, %v", print, err)
	}
	pin, err := a.RequiredToolchain(t.Context(), root)
	if err != nil || a.CheckPin(*pin, print).OK {
		t.Errorf("%+v is satisfied by %q: %v", pin, print, err)
	}
	err = a.Install(t.Context(), adapters.InstallRequest{DishDir: root, Env: adaptertest.TaskEnv(a, adaptertest.Env())}, nil)
	var failed *adapters.InstallError
	if !errors.As(err, &failed) || !strings.Contains(failed.Detail, "3.97") {
		t.Errorf("%v", err)
	}
}

func TestMissingTool(t *testing.T) {
	bin, root := t.TempDir(), adaptertest.Project(t, workspace)
	env := adapters.Environ{"HOME=" + bin, "PATH=" + bin}
	a := New(snapshot.Options{Env: env})
	_, basisErr := a.ToolchainBasis(t.Context(), root)
	_, printErr := a.ToolchainFingerprint(t.Context(), root)
	installErr := a.Install(t.Context(), adapters.InstallRequest{DishDir: root, Env: env}, nil)
	addErr := a.Add(t.Context(), adapters.AddRequest{DishDir: root, Packages: []string{"six"}, Env: env}, nil)
	for _, err := range []error{basisErr, printErr, installErr, addErr} {
		var missing *adapters.MissingTool
		if !errors.As(err, &missing) || missing.Tool != "uv" || missing.Hint == "" {
			t.Errorf("%v", err)
		}
	}
	script := filepath.Join(bin, "uv")
	adaptertest.Write(t, script, "#!/bin/sh\ntest \"$1\" = --version && { echo 'warning: a new uv 99.9 is there'; echo 'uv 0.9.1 (x)'; exit; }\necho 'warning: slow'\necho "+bin+"/py\n")
	adaptertest.Write(t, filepath.Join(bin, "py"), "#!/bin/sh\necho bento python=3.9.1 implementation=x\n")
	for _, name := range []string{script, filepath.Join(bin, "py")} {
		if err := os.Chmod(name, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := a.ToolchainFingerprint(t.Context(), root); err != nil || got != "uv=0.9.1 python=3.9.1 implementation=x" {
		t.Errorf("%q, %v", got, err)
	}
}
