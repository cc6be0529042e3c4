package golang_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/adaptertest"
	"github.com/bentobuild/bento/adapters/golang"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/internal/proc"
)

func TestInstallScope(t *testing.T) {
	a := golang.New(snapshot.Options{Env: adaptertest.Env("GOWORK=", "GOMODCACHE=/cache")})
	root := adaptertest.Fixture(t, "go")
	want := adapters.Scope{
		Dir: "app", Command: "go mod download", Files: []string{"app/go.mod", "app/go.sum"},
		Made: []string{"/cache/cache/download"},
	}
	if d := cmp.Diff(want, adaptertest.Scope(t, a, root, root+"/app")); d != "" {
		t.Error(d)
	}
	root = adaptertest.Project(t, workspace)
	want = adapters.Scope{
		Dir: ".", Command: "go mod download", Nothing: true,
		Files: []string{"app/go.mod", "app/go.sum", "go.work", "go.work.sum", "lib/go.mod", "lib/go.sum"},
	}
	for _, dir := range []string{"", "/app", "/lib"} {
		if d := cmp.Diff(want, adaptertest.Scope(t, a, root, root+dir)); d != "" {
			t.Errorf("workspace from %q: %s", dir, d)
		}
	}
}

// moduleCache returns what go env prints, without starting go.
func TestModuleCache(t *testing.T) {
	adaptertest.Drive(t, "go")
	root := adaptertest.Fixture(t, "go")
	settings := filepath.Join(root, "env")
	for _, test := range []struct {
		env     []string
		written string
	}{
		{nil, ""},
		{nil, "GOMODCACHE=/written"},
		{nil, "GOFLAGS=-v\n GOPATH=/first:/second\n"},
		{[]string{"GOPATH=/path"}, "GOMODCACHE=/written\n"},
		{[]string{"GOMODCACHE=/named"}, "GOMODCACHE=/written\n"},
		{[]string{"GOPATH=/path:/more"}, ""},
	} {
		adaptertest.Write(t, settings, test.written)
		env := adaptertest.Env(append([]string{"GOWORK=", "GOMODCACHE=", "GOPATH=", "GOENV=" + settings}, test.env...)...)
		out, _, _, err := proc.Output(t.Context(), proc.Spec{Argv: []string{"/bin/sh", "-c", "go env GOMODCACHE"}, Dir: root, Env: env}, 1<<10)
		if err != nil {
			t.Fatal(err)
		}
		want := []string{strings.TrimSpace(string(out)) + "/cache/download"}
		if got := adaptertest.Scope(t, golang.New(snapshot.Options{Env: env}), root, root+"/app").Made; !slices.Equal(got, want) {
			t.Errorf("%v, %q: %q, want %q", test.env, test.written, got, want)
		}
	}
}

func TestInstallHasNothingToDo(t *testing.T) {
	root := adaptertest.Project(t, `
-- bare/go.mod --
module bare
go 1.22
-- local/go.mod --
module local
go 1.22
require x.com/y v0.0.0
replace x.com/y => ../y
-- old/go.mod --
module old
go 1.16
require x.com/y v0.0.0
replace x.com/y => ../y
-- vendored/go.mod --
module vendored
go 1.22
require x.com/z v1.0.0
-- vendored/vendor/modules.txt --
-- far/go.mod --
module far
go 1.22
require x.com/z v1.0.0
`)
	a := golang.New(snapshot.Options{Env: adaptertest.Env("GOWORK=")})
	for dir, want := range map[string]bool{"bare": true, "local": true, "old": false, "vendored": true, "far": false} {
		if got := adaptertest.Scope(t, a, root, filepath.Join(root, dir)).Nothing; got != want {
			t.Errorf("%s: nothing to install is %v", dir, got)
		}
	}
}

// fromCache is an environment with an empty module cache that is filled from the
// one of the user, which holds what bento's own tests need.
func fromCache(t *testing.T) adapters.Environ {
	t.Helper()
	have, err := golang.New(snapshot.Options{Env: adaptertest.Env()}).ToolchainFingerprint(t.Context(), "/")
	if err != nil || have == "" {
		t.Fatal(err)
	}
	cache := os.Getenv("GOMODCACHE")
	if cache == "" {
		gopath := os.Getenv("GOPATH")
		if gopath == "" {
			gopath = filepath.Join(os.Getenv("HOME"), "go")
		}
		cache = filepath.Join(gopath, "pkg", "mod")
	}
	return adaptertest.Env("GOMODCACHE="+t.TempDir(), "GOPROXY=file://"+cache+"/cache/download", "GOSUMDB=off",
		"GOFLAGS=-modcacherw", "GOWORK=", "GOTOOLCHAIN=local")
}

func TestInstallDownloads(t *testing.T) {
	adaptertest.Drive(t, "go")
	root := adaptertest.Fixture(t, "go")
	env := fromCache(t)
	a := golang.New(snapshot.Options{Env: env})
	var log []adapters.Log
	req := adapters.InstallRequest{DishDir: root + "/app", DishName: "app", Env: env}
	if err := a.Install(t.Context(), req, func(l adapters.Log) { log = append(log, l) }); err != nil {
		t.Fatal(err)
	}
	module := filepath.Join(env.Get("GOMODCACHE"), "github.com", "google", "go-cmp@v0.7.0", "go.mod")
	if _, err := os.Stat(module); err != nil {
		t.Error(err)
	}
	if err := a.Install(t.Context(), req, nil); err != nil {
		t.Errorf("again: %v", err)
	}
}

// The go command would write its own version, other quotes and the missing sums.
func TestInstallOfAModuleWritesNothing(t *testing.T) {
	adaptertest.Drive(t, "go")
	root := adaptertest.Project(t, `
-- go.mod --
module "example.com/app"

require (
	"github.com/google/go-cmp" v0.7.0
)
replace example.com/other => ./other
-- other/go.mod --
module example.com/other
-- app.go --
package app
`)
	env := fromCache(t)
	before, err := os.ReadFile(root + "/go.mod")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", t.TempDir())
	if err := golang.New(snapshot.Options{Env: env}).Install(t.Context(), adapters.InstallRequest{DishDir: root, Env: env}, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(env.Get("GOMODCACHE"), "cache", "download", "github.com", "google", "go-cmp")); err != nil {
		t.Error(err)
	}
	if after, err := os.ReadFile(root + "/go.mod"); err != nil || string(after) != string(before) {
		t.Errorf("go.mod is now %q, %v", after, err)
	}
	if _, err := os.Stat(root + "/go.sum"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("go.sum: %v", err)
	}
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
		t.Errorf("left in the directory for temporary files: %v, %v", left, err)
	}
}

func TestInstallFailsWithTheToolsLastLines(t *testing.T) {
	adaptertest.Drive(t, "go")
	root := adaptertest.Fixture(t, "go")
	env := fromCache(t)
	adaptertest.Replace(t, root+"/app/go.mod", "go-cmp v0.7.0", "go-cmp v0.99.0")
	var log []adapters.Log
	a := golang.New(snapshot.Options{Env: env})
	err := a.Install(t.Context(), adapters.InstallRequest{DishDir: root + "/app", Env: env}, func(l adapters.Log) { log = append(log, l) })
	var failed *adapters.InstallError
	if !errors.As(err, &failed) {
		t.Fatalf("got %v", err)
	}
	if failed.Command != "go mod download" || failed.ExitStatus != 1 || !strings.Contains(failed.Detail, "go-cmp@v0.99.0") {
		t.Errorf("got %+v", failed)
	}
	if len(log) == 0 || log[0].Stream != "stderr" {
		t.Errorf("log %v", log)
	}
}

func TestInstallOfAWorkspaceTellsOfNewSums(t *testing.T) {
	adaptertest.Drive(t, "go")
	root := adaptertest.Project(t, `
-- go.work --
go 1.22
use ./app
-- app/go.mod --
module example.com/app
go 1.22
require github.com/google/go-cmp v0.7.0
-- app/app.go --
package app
`)
	env := fromCache(t)
	var warnings []string
	err := golang.New(snapshot.Options{Env: env}).Install(t.Context(), adapters.InstallRequest{DishDir: root + "/app", Env: env}, func(l adapters.Log) {
		if l.Level == "warn" {
			warnings = append(warnings, l.Message)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{root + "/go.work.sum: go mod download added sums; commit the file"}
	if d := cmp.Diff(want, warnings); d != "" {
		t.Error(d)
	}
}
