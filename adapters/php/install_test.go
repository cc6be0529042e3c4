package php_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/adaptertest"
	"github.com/bentobuild/bento/adapters/php"
	"github.com/bentobuild/bento/adapters/snapshot"
)

func TestInstallScope(t *testing.T) {
	root := adaptertest.Fixture(t, "php")
	got, err := newPHP().InstallScope(t.Context(), root+"/app")
	if err != nil {
		t.Fatal(err)
	}
	got.Reads = nil
	want := adapters.Scope{
		Dir: root + "/app", Command: "composer install", Made: []string{"vendor/autoload.php"},
		Files: []string{root + "/app/composer.json", root + "/app/composer.lock", root + "/lib/composer.json"},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// Composer installs a stale lockfile, and does not notice changes of a path package: bento
// reports both.
func TestInstallRefusesAStaleLockfile(t *testing.T) {
	adaptertest.Drive(t, "php", "composer")
	root := adaptertest.Fixture(t, "php")
	env := adaptertest.Env("COMPOSER_DISABLE_NETWORK=1", "COMPOSER_HOME="+t.TempDir())
	a := php.New(snapshot.Options{Env: env})
	install := func() error {
		t.Helper()
		_, err := adaptertest.Install(t, a, env, root+"/app")
		return err
	}
	if err := install(); err != nil {
		t.Fatal(err)
	}
	refused := func(want string) {
		t.Helper()
		var failed *adapters.InstallError
		if err := install(); !errors.As(err, &failed) || !strings.Contains(failed.Detail, want) {
			t.Errorf("%v; want %q", err, want)
		}
	}
	adaptertest.Replace(t, root+"/app/composer.json", "^1.0", "^1")
	refused("lock file is not up to date")
	adaptertest.Replace(t, root+"/app/composer.json", "^1", "^1.0")
	adaptertest.Replace(t, root+"/lib/composer.json", `"php": ">=7.4"`, `"php": ">=7.4", "ext-json": "*"`)
	refused("requirement ext-json of example/lib")
	adaptertest.Replace(t, root+"/lib/composer.json", `, "ext-json": "*"`, "")
	adaptertest.Replace(t, root+"/lib/composer.json", `"src/"`, `"source/"`)
	refused(`autoload of example/lib`)
	adaptertest.Replace(t, root+"/lib/composer.json", `"source/"`, `"src/"`)
	if err := install(); err != nil {
		t.Error(err)
	}
}

func TestForcedInstallMends(t *testing.T) {
	adaptertest.Drive(t, "php", "composer")
	root := adaptertest.Fixture(t, "php")
	env := adaptertest.Env("COMPOSER_DISABLE_NETWORK=1", "COMPOSER_MIRROR_PATH_REPOS=1", "COMPOSER_HOME="+t.TempDir())
	a := php.New(snapshot.Options{Env: env})
	if _, err := adaptertest.Install(t, a, env, root+"/app"); err != nil {
		t.Fatal(err)
	}
	inside := root + "/app/vendor/example/lib/src/Greeter.php"
	if err := os.Remove(inside); err != nil {
		t.Fatal(err)
	}
	req := adapters.InstallRequest{DishDir: root + "/app", Force: true, Env: adaptertest.TaskEnv(a, env)}
	if err := a.Install(t.Context(), req, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(inside); err != nil {
		t.Error(err)
	}
}

func TestLockDigest(t *testing.T) {
	root := adaptertest.Fixture(t, "php")
	a := newPHP()
	before := adaptertest.Lock(t, a, root, root+"/app")
	if before.File != "app/composer.lock" || before.Digest == "" {
		t.Fatalf("%+v", before)
	}
	for _, test := range []struct {
		old, new string
		moves    bool
	}{
		{`"content-hash": "`, `"content-hash": "0`, false},
		{`"reference": "`, `"reference": "0`, true},
		{`"version": "1.0.0"`, `"version": "1.0.1"`, true},
		{`"packages-dev": [],`, "\"packages-dev\": [\n\n],", false},
		{`"packages-dev": []`, `"packages-dev": [{"name": "x/y", "version": "1"}]`, true},
	} {
		adaptertest.Replace(t, root+"/app/composer.lock", test.old, test.new)
		if got := adaptertest.Lock(t, a, root, root+"/app"); (got.Digest != before.Digest) != test.moves || got.Digest == "" {
			t.Errorf("%s: %+v, was %+v", test.new, got, before)
		}
		adaptertest.Replace(t, root+"/app/composer.lock", test.new, test.old)
	}
	for text, want := range map[string]string{
		"{}": `"packages" is not a list`, "{": "1:2: ", `{"packages": [{}]}`: "line 1: a package without a name",
	} {
		adaptertest.Write(t, root+"/app/composer.lock", text)
		if got := adaptertest.Lock(t, a, root, root+"/app"); got.Digest != "" || !strings.HasPrefix(got.Whole, want) {
			t.Errorf("%s: %+v", text, got)
		}
	}
}

func TestAdd(t *testing.T) {
	adaptertest.Drive(t, "php", "composer")
	root := adaptertest.Fixture(t, "php")
	env := adaptertest.Env("COMPOSER_DISABLE_NETWORK=1", "COMPOSER_HOME="+t.TempDir())
	a := php.New(snapshot.Options{Env: env})
	adaptertest.Write(t, root+"/more/composer.json", `{"name": "example/more", "version": "2.0.0"}`)
	req := adapters.AddRequest{DishDir: root + "/app", Packages: []string{"example/more"}, Dev: true, Env: adaptertest.TaskEnv(a, env)}
	if err := a.Add(t.Context(), req, nil); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(root + "/app/composer.json")
	if err != nil || !strings.Contains(string(data), `"example/more": "^2.0"`) || !strings.Contains(string(data), "require-dev") {
		t.Errorf("%v: %s", err, data)
	}
	if _, err := adaptertest.Install(t, a, env, root+"/app"); err != nil {
		t.Errorf("the lockfile is stale: %v", err)
	}
	req.Packages = []string{"example/none"}
	var failed *adapters.InstallError
	if err := a.Add(t.Context(), req, nil); !errors.As(err, &failed) || !strings.Contains(failed.Detail, "example/none") {
		t.Errorf("a package that is not there: %v", err)
	}
}

func TestScaffold(t *testing.T) {
	adaptertest.Drive(t, "php", "composer")
	env := adaptertest.Env("COMPOSER_DISABLE_NETWORK=1", "COMPOSER_HOME="+t.TempDir())
	a := php.New(snapshot.Options{Env: env})
	adaptertest.ScaffoldWorks(t, a, env, "build", "test", "lint")
	dir := adaptertest.Scaffold(t, a, "0.Up_-x")
	if _, err := adaptertest.Install(t, a, env, dir); err != nil {
		t.Errorf("with an odd name: %v", err)
	}
}
