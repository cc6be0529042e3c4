package ruby

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
	"github.com/bentobuild/bento/adapters/snapshot"
)

// tool runs a tool in dir, which has to work.
func tool(t *testing.T, dir string, argv ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%q: %v\n%s", argv, err, out)
	}
	return string(out)
}

func TestBundler(t *testing.T) {
	adaptertest.Drive(t, "ruby", "bundle")
	// Not parallel: an install of another test would end the children that this one starts by itself.
	root := adaptertest.Fixture(t, "ruby")
	tool(t, root, "bundle", "lock", "--local")
	env := adaptertest.Env()
	a := New(snapshot.Options{Env: env})
	lib, app := filepath.Join(root, "lib"), filepath.Join(root, "app")
	lockfile := filepath.Join(root, "Gemfile.lock")
	locked, err := os.ReadFile(lockfile)
	if err != nil {
		t.Fatal(err)
	}

	t.Run("recipes", func(t *testing.T) {
		log, err := adaptertest.Install(t, a, env, app)
		if err != nil || !strings.Contains(strings.Join(log, "\n"), "Bundle complete!") {
			t.Fatalf("%v\n%s", err, strings.Join(log, "\n"))
		}
		for _, dir := range []string{lib, app} {
			for _, task := range []string{"build", "test", "lint"} {
				if exit, said := adaptertest.Run(t, a, env, dir, adaptertest.Task(t, a, dir, task)); exit != 0 {
					t.Errorf("%s of %s exits with %d: %s", task, dir, exit, said)
				}
			}
			if gems, _ := filepath.Glob(filepath.Join(dir, "pkg/*.gem")); len(gems) != 1 {
				t.Errorf("gems of %s: %q", dir, gems)
			}
		}
		if exit, said := adaptertest.Run(t, a, env, app, adaptertest.Task(t, a, app, "hello")); exit != 0 || !strings.Contains(said, "hello") {
			t.Errorf("%d: %s", exit, said)
		}
	})
	t.Run("findings", func(t *testing.T) {
		adaptertest.Replace(t, filepath.Join(lib, "lib/example_lib.rb"), `"<#{value}>"`, `"{#{value}}"`)
		for dir, place := range map[string]string{lib: "lib/spec/example_lib_spec.rb:7: ExampleLib puts values", app: "app/test/example_app_test.rb:10: ExampleAppTest#test_the_library"} {
			_, said := adaptertest.Run(t, a, env, dir, adaptertest.Task(t, a, dir, "test"))
			found, err := a.ParseDiagnostics(t.Context(), adapters.ParseRequest{Stdout: said, DishDir: dir, WorkspaceRoot: root})
			if err != nil || len(found) != 1 || !strings.HasPrefix(found[0].String(), place) {
				t.Errorf("%v, %v\n%s", found, err, said)
			}
		}
	})
	t.Run("the lockfile stays as it is", func(t *testing.T) {
		now, err := os.ReadFile(lockfile)
		if err != nil || string(now) != string(locked) {
			t.Errorf("%v\n%s", err, now)
		}
	})
	t.Run("another bundler is not fetched", func(t *testing.T) {
		version := regexp.MustCompile(`(?m)^BUNDLED WITH\n.*$`)
		adaptertest.Write(t, lockfile, version.ReplaceAllString(string(locked), "BUNDLED WITH\n   2.99.1"))
		log, err := adaptertest.Install(t, a, env, app)
		if err != nil || strings.Contains(strings.Join(log, "\n"), "2.99.1") {
			t.Errorf("%v\n%s", err, strings.Join(log, "\n"))
		}
		adaptertest.Write(t, lockfile, string(locked))
	})
	t.Run("a stale lockfile", func(t *testing.T) {
		adaptertest.Replace(t, filepath.Join(root, "Gemfile"), `gem "rake"`, `gem "rake", ">= 12"`)
		_, err := adaptertest.Install(t, a, env, lib)
		var failed *adapters.InstallError
		if !errors.As(err, &failed) || failed.ExitStatus != 16 || failed.Command != "bundle install" || !strings.Contains(failed.Detail, "rake") {
			t.Errorf("%v", err)
		}
		if now, _ := os.ReadFile(lockfile); string(now) != string(locked) {
			t.Errorf("it became\n%s", now)
		}
	})
	t.Run("without a lockfile", func(t *testing.T) {
		if err := os.Remove(lockfile); err != nil {
			t.Fatal(err)
		}
		adaptertest.Replace(t, filepath.Join(root, "Gemfile"), "gem \"example_app\"", "source \"https://index.invalid\"\ngem \"example_app\"")
		log, err := adaptertest.Install(t, a, env, lib)
		if err != nil || !strings.Contains(strings.Join(log, "\n"), "the index cannot be reached") {
			t.Fatalf("%v\n%s", err, strings.Join(log, "\n"))
		}
		if _, err := os.Stat(lockfile); err != nil {
			t.Error(err)
		}
	})
	t.Run("interrupted", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		err := a.Install(ctx, adapters.InstallRequest{DishDir: lib, Env: adaptertest.TaskEnv(a, env)}, nil)
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	})
}

// TestVendored installs a gem from vendor/cache into vendor/bundle, as a deployment
// does: without an index.
func TestVendored(t *testing.T) {
	adaptertest.Drive(t, "ruby", "bundle")
	t.Parallel()
	root := adaptertest.Project(t, `
-- tiny/tiny.gemspec --
Gem::Specification.new do |s|
  s.name = "tiny"
  s.version = "1.2.3"
  s.summary = "x"
  s.authors = ["x"]
  s.files = ["lib/tiny.rb"]
end
-- tiny/lib/tiny.rb --
TINY = 1
-- app/Gemfile --
source "https://index.invalid"
gem "tiny"
-- app/Gemfile.lock --
GEM
  remote: https://index.invalid/
  specs:
    tiny (1.2.3)

PLATFORMS
  ruby

DEPENDENCIES
  tiny
-- app/.bundle/config --
---
BUNDLE_PATH: "vendor/bundle"
`)
	app := filepath.Join(root, "app")
	cached := filepath.Join(app, "vendor/cache/tiny-1.2.3.gem")
	if err := os.MkdirAll(filepath.Dir(cached), 0o755); err != nil {
		t.Fatal(err)
	}
	tool(t, filepath.Join(root, "tiny"), "gem", "build", "tiny.gemspec", "--output", cached)
	env := adaptertest.Env()
	a := New(snapshot.Options{Env: env})
	scope, err := a.InstallScope(t.Context(), app)
	if err != nil || len(scope.Made) != 1 || scope.Made[0] != "vendor/bundle" {
		t.Fatalf("%+v, %v", scope, err)
	}
	works := func(when string) {
		t.Helper()
		if log, err := adaptertest.Install(t, a, env, app); err != nil {
			t.Fatalf("%s: %v\n%s", when, err, strings.Join(log, "\n"))
		}
		task := adapters.Task{Run: "bundle exec ruby -e 'require \"tiny\"; puts TINY'", Env: map[string]string{"BUNDLE_GEMFILE": "Gemfile", "BUNDLE_FROZEN": "true"}}
		if exit, said := adaptertest.Run(t, a, env, app, task); exit != 0 || !strings.HasPrefix(said, "1\n") {
			t.Errorf("%s: %d: %s", when, exit, said)
		}
	}
	works("at first")
	installed, _ := filepath.Glob(filepath.Join(app, "vendor/bundle/ruby/*/gems/tiny-1.2.3/lib/tiny.rb"))
	if len(installed) != 1 {
		t.Fatalf("%q", installed)
	}
	// Killed between unpacking and the specification, which comes last.
	specs, _ := filepath.Glob(filepath.Join(app, "vendor/bundle/ruby/*/specifications/tiny-1.2.3.gemspec"))
	for _, path := range append(specs, installed...) {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	works("half installed")
	if err := os.RemoveAll(filepath.Join(app, "vendor/bundle")); err != nil {
		t.Fatal(err)
	}
	works("removed")
	if err := os.Remove(installed[0]); err != nil {
		t.Fatal(err)
	}
	req := adapters.InstallRequest{DishDir: app, Env: adaptertest.TaskEnv(a, env), Force: true}
	if err := a.Install(t.Context(), req, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(installed[0]); err != nil {
		t.Errorf("force repairs nothing: %v", err)
	}
}

func TestScaffold(t *testing.T) {
	adaptertest.Drive(t, "ruby", "bundle", "rubocop")
	t.Parallel()
	env := adaptertest.Env()
	adaptertest.ScaffoldWorks(t, New(snapshot.Options{Env: env}), env)
}

func TestScaffoldNames(t *testing.T) {
	for name, want := range map[string]string{"set": "AppSet", "Big-one.x": "BigOneX", "9to5": "App9to5", "json": "AppJson", "a_": "A"} {
		files, err := newRuby().Scaffold(name)
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, f := range files {
			found = found || strings.Contains(string(f.Data), "\nmodule "+want+"\n")
		}
		if !found {
			t.Errorf("%s has no module %s", name, want)
		}
	}
}

func TestAdd(t *testing.T) {
	adaptertest.Drive(t, "ruby", "bundle")
	t.Parallel()
	root := adaptertest.Project(t, "-- Gemfile --\ngem \"rake\"\n")
	env := adaptertest.Env()
	a := New(snapshot.Options{Env: env})
	req := adapters.AddRequest{DishDir: root, Packages: []string{"rainbow"}, Dev: true, Env: adaptertest.TaskEnv(a, env)}
	if err := a.Add(t.Context(), req, nil); err != nil {
		t.Fatal(err)
	}
	data, _ := os.ReadFile(filepath.Join(root, "Gemfile"))
	if !regexp.MustCompile(`gem "rainbow", "~> \d+\.\d+", (:group =>|group:) \[?:development\]?`).Match(data) {
		t.Errorf("%s", data)
	}
	for _, name := range []string{"--source=x", "rake:1.0", "a b", ""} {
		var unsupported *adapters.Unsupported
		if err := a.Add(t.Context(), adapters.AddRequest{DishDir: root, Packages: []string{name}, Env: req.Env}, nil); !errors.As(err, &unsupported) || unsupported.Hint == "" {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestFingerprint(t *testing.T) {
	adaptertest.Drive(t, "ruby", "bundle")
	a, dir := newRuby(), t.TempDir()
	got, err := a.ToolchainFingerprint(t.Context(), dir)
	if err != nil || !regexp.MustCompile(`^ruby=\d+\.\d+\.\d+ patch=-?\d+ engine=\w+ engine_version=\S+ abi=\S+ platform=\S+$`).MatchString(got) {
		t.Errorf("%q, %v", got, err)
	}
	one, err := a.ToolchainBasis(t.Context(), dir)
	two, err2 := a.ToolchainBasis(t.Context(), t.TempDir())
	if err != nil || err2 != nil || one != two || !strings.Contains(one, "ruby") {
		t.Errorf("%q, %v\n%q, %v", one, err, two, err2)
	}
}

// script writes an executable.
func script(t *testing.T, path, text string) {
	t.Helper()
	adaptertest.Write(t, path, "#!/bin/sh\n"+text+"\n")
	if err := os.Chmod(path, 0o755); err != nil {
		t.Fatal(err)
	}
}

func TestMissingTool(t *testing.T) {
	bin, root := t.TempDir(), adaptertest.Project(t, "-- Gemfile --\ngem \"x\"\n")
	env := adapters.Environ{"HOME=" + bin, "PATH=" + bin}
	ask := func() []error {
		a := New(snapshot.Options{Env: env})
		_, basisErr := a.ToolchainBasis(t.Context(), root)
		_, printErr := a.ToolchainFingerprint(t.Context(), root)
		return []error{basisErr, printErr, a.Install(t.Context(), adapters.InstallRequest{DishDir: root, Env: env}, nil)}
	}
	for _, want := range []string{"ruby", "bundle"} {
		for _, err := range ask() {
			var missing *adapters.MissingTool
			if !errors.As(err, &missing) || missing.Tool != want || missing.Hint == "" {
				t.Errorf("want %s: %v", want, err)
			}
		}
		script(t, filepath.Join(bin, want), "echo 'warning: old'; echo 'bento ruby=3.1.2 engine=ruby'")
	}
	if got, err := New(snapshot.Options{Env: env}).ToolchainFingerprint(t.Context(), root); err != nil || got != "ruby=3.1.2 engine=ruby" {
		t.Errorf("%q, %v", got, err)
	}
	script(t, filepath.Join(bin, "ruby"), "echo 'unknown option' >&2; exit 2")
	if _, err := New(snapshot.Options{Env: env}).ToolchainFingerprint(t.Context(), root); err == nil || !strings.Contains(err.Error(), "exited with status 2: unknown option") {
		t.Errorf("%v", err)
	}
	script(t, filepath.Join(bin, "ruby"), "echo 3.1.2")
	if _, err := New(snapshot.Options{Env: env}).ToolchainFingerprint(t.Context(), root); err == nil || !strings.Contains(err.Error(), "printed no answer") {
		t.Errorf("%v", err)
	}
}

func TestShimAnswersByDirectory(t *testing.T) {
	home := t.TempDir()
	shim := `
d=$PWD
while test "$d" != / && ! test -f "$d/.ruby-version"; do d=$(dirname "$d"); done
v=${RBENV_VERSION:-$(cat "$d/.ruby-version" 2>/dev/null || cat "` + home + `/version")}
test -x "` + home + `/versions/$v/bin/ruby" || { echo "rbenv: version '$v' is not installed" >&2; exit 127; }
exec "` + home + `/versions/$v/bin/ruby"`
	script(t, filepath.Join(home, "shims/ruby"), shim)
	script(t, filepath.Join(home, "shims/bundle"), "")
	script(t, filepath.Join(home, "versions/3.1.2/bin/ruby"), "echo bento ruby=3.1.2")
	script(t, filepath.Join(home, "versions/3.3.0/bin/ruby"), "echo bento ruby=3.3.0")
	adaptertest.Write(t, filepath.Join(home, "version"), "3.1.2")
	env := adapters.Environ{"HOME=" + home, "PATH=" + home + "/shims:/usr/bin:/bin"}
	root := adaptertest.Project(t, "-- new/.ruby-version --\n3.3.0\n-- gone/.ruby-version --\n3.97\n-- old/x --\n")
	ask := func(env adapters.Environ, dir string) (basis, print string) {
		t.Helper()
		a := New(snapshot.Options{Env: env}) // what one has seen of the machine holds for a moment
		basis, err := a.ToolchainBasis(t.Context(), filepath.Join(root, dir))
		if err != nil {
			t.Fatal(err)
		}
		if print, err = a.ToolchainFingerprint(t.Context(), filepath.Join(root, dir)); err != nil {
			print = err.Error()
		}
		return basis, print
	}
	oldBasis, oldPrint := ask(env, "old")
	newBasis, newPrint := ask(env, "new")
	if oldPrint != "ruby=3.1.2" || newPrint != "ruby=3.3.0" || oldBasis == newBasis {
		t.Errorf("old %q, new %q", oldPrint, newPrint)
	}
	if b, p := ask(env.With(map[string]string{"RBENV_VERSION": "3.3.0"}), "old"); p != "ruby=3.3.0" || b == oldBasis {
		t.Errorf("with RBENV_VERSION: %q", p)
	}
	_, err := New(snapshot.Options{Env: env}).ToolchainFingerprint(t.Context(), filepath.Join(root, "gone"))
	var missing *adapters.MissingTool
	if !errors.As(err, &missing) || !strings.Contains(missing.Hint, "'3.97' is not installed") {
		t.Errorf("%v", err)
	}
	for name, change := range map[string]func(){
		"the default":     func() { adaptertest.Write(t, filepath.Join(home, "version"), "3.3.0\n\n") },
		"a version":       func() { script(t, filepath.Join(home, "versions/3.1.2/bin/ruby"), "echo bento ruby=3.1.2 x") },
		"another version": func() { script(t, filepath.Join(home, "versions/3.4.0/bin/ruby"), "") },
		"a file above":    func() { adaptertest.Write(t, filepath.Join(root, ".ruby-version"), "3.3.0") },
		"asdf's file":     func() { adaptertest.Write(t, filepath.Join(root, "old/.tool-versions"), "ruby 3.1.2") },
	} {
		before, _ := ask(env, "old")
		change()
		if after, _ := ask(env, "old"); after == before {
			t.Errorf("%s changed and the basis did not", name)
		}
	}
}
