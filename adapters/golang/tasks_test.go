package golang_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/adaptertest"
	"github.com/bentobuild/bento/adapters/golang"
	"github.com/bentobuild/bento/adapters/snapshot"
)

func TestDetect(t *testing.T) {
	root := adaptertest.Project(t, `
-- mod/go.mod --
-- work/go.work --
-- none/main.go --
-- dir/go.mod/x --
`)
	a := golang.New(snapshot.Options{Env: adaptertest.Env()})
	for dir, want := range map[string]bool{"mod": true, "work": true, "none": false, "dir": false, "absent": false} {
		got, err := a.Detect(t.Context(), filepath.Join(root, dir))
		if err != nil || got != want {
			t.Errorf("%s: %v, %v; want %v", dir, got, err, want)
		}
	}
}

// lines returns the recipes that belong to ci, one "name: command [outputs]" each.
func lines(list []adapters.Task) string {
	var all []string
	for _, t := range list {
		if t.Script {
			continue
		}
		line := t.Name + ": " + t.Run
		if len(t.Outputs) > 0 {
			line += " -> " + strings.Join(t.Outputs, " ")
		}
		all = append(all, line)
	}
	return strings.Join(all, "\n")
}

func TestRecipes(t *testing.T) {
	const rest = "\ncheck: go vet ./...\ntest: go test ./..."
	root := adaptertest.Project(t, `
-- many/go.mod --
module example.com/many
go 1.22
-- many/main.go --
-- many/sub/sub.go --
-- one/go.mod --
module example.com/one/v2
go 1.22
-- one/main.go --
-- one/testdata/x/x.go --
-- one/_old/x.go --
-- one/nested/go.mod --
-- one/nested/x.go --
-- deep/go.mod --
module example.com/deep
go 1.25
ignore (
	./web
	node_modules
)
-- deep/cmd/server/main.go --
-- deep/web/x.go --
-- deep/a/node_modules/b/x.go --
-- taken/go.mod --
module example.com/taken
-- taken/main.go --
-- taken/taken/readme --
-- script/go.mod --
module script
-- script/lib.go --
-- script/script --
#!/bin/sh
-- empty/go.mod --
module example.com/empty
-- odd/go.mod --
module "example.com/o*d"
-- odd/odd.go --
`)
	for dir, want := range map[string]string{
		"many":   "build: go build ./..." + rest,
		"one":    "build: go build ./... -> one/**" + rest,
		"deep":   "build: go build ./... -> server/**" + rest,
		"taken":  "build: go build -o /dev/null ./..." + rest,
		"script": "build: go build -o /dev/null ./..." + rest,
		"empty":  "",
		"odd":    "build: go build ./..." + rest,
	} {
		got := adaptertest.Tasks(t, golang.New(snapshot.Options{Env: adaptertest.Env("GOOS=")}), filepath.Join(root, dir))
		if d := cmp.Diff(want, lines(got.Tasks)); d != "" || got.Aggregate {
			t.Errorf("%s: aggregate %v: %s", dir, got.Aggregate, d)
		}
	}
	windows := adaptertest.Task(t, golang.New(snapshot.Options{Env: adaptertest.Env("GOOS=windows")}), filepath.Join(root, "one"), "build")
	if d := cmp.Diff([]string{"one.exe/**"}, windows.Outputs); d != "" {
		t.Errorf("for windows: %s", d)
	}
}

func TestRecipesOfAnExecutableThatIsThere(t *testing.T) {
	root := adaptertest.Project(t, `
-- go.mod --
module example.com/svc
-- main.go --
-- svc --
`)
	adaptertest.Write(t, filepath.Join(root, "svc"), "\x7FELF\x02\x01")
	build := adaptertest.Task(t, golang.New(snapshot.Options{Env: adaptertest.Env("GOOS=")}), root, "build")
	if d := cmp.Diff([]string{"svc/**"}, build.Outputs); d != "" {
		t.Error(d)
	}
}

func TestLintNeedsALinter(t *testing.T) {
	root := adaptertest.Project(t, `
-- .golangci.toml --
-- above/go.mod --
module above
-- above/x.go --
-- own/go.mod --
module own
-- own/x.go --
-- own/.golangci.yml --
-- tool/go.mod --
module tool
go 1.24
tool github.com/golangci/golangci-lint/v2/cmd/golangci-lint
-- tool/x.go --
-- none/.git/HEAD --
-- none/go.mod --
module none
-- none/x.go --
-- static/.git/HEAD --
-- static/go.mod --
module static
go 1.24
tool honnef.co/go/tools/cmd/staticcheck
-- static/x.go --
`)
	a := golang.New(snapshot.Options{Env: adaptertest.Env()})
	config := filepath.Join(root, ".golangci.toml")
	for dir, want := range map[string]*adapters.Task{
		"above":  {Name: "lint", Run: "golangci-lint run --fix=false", ExtraInputs: []string{config}},
		"own":    {Name: "lint", Run: "golangci-lint run --fix=false"},
		"tool":   {Name: "lint", Run: "go tool golangci-lint run --fix=false", ExtraInputs: []string{config}},
		"none":   nil,
		"static": {Name: "lint", Run: "go tool staticcheck ./..."},
	} {
		var got *adapters.Task
		for _, task := range adaptertest.Tasks(t, a, filepath.Join(root, dir)).Tasks {
			if task.Name == "lint" {
				got = &task
			}
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", dir, d)
		}
	}
}

const workspace = `
-- go.work --
go 1.22

use (
	./app
	./lib
)
-- app/go.mod --
module example.com/app
go 1.22
-- app/app.go --
package app

import (
	"fmt"
	_ "example.com/lib/deep"
)
-- lib/go.mod --
module example.com/lib
go 1.22
-- lib/lib.go --
package lib
-- lib/lib_test.go --
package lib

import _ "example.com/app"
-- other/go.mod --
module example.com/other
go 1.22
-- other/other.go --
package other
`

func TestWorkspace(t *testing.T) {
	root := adaptertest.Project(t, workspace)
	a := golang.New(snapshot.Options{Env: adaptertest.Env("GOWORK=")})
	top := adaptertest.Tasks(t, a, root)
	if !top.Aggregate || len(top.Tasks) != 0 {
		t.Errorf("root: aggregate %v with %d tasks", top.Aggregate, len(top.Tasks))
	}
	if d := cmp.Diff([]string{root + "/app", root + "/lib"}, top.Members); d != "" {
		t.Errorf("members: %s", d)
	}
	app := adaptertest.Task(t, a, root+"/app", "build")
	if d := cmp.Diff([]string{root + "/go.work", root + "/go.work.sum", root + "/lib/go.mod"}, app.ExtraInputs); d != "" {
		t.Errorf("inputs of a member: %s", d)
	}
	if len(app.Env) != 0 {
		t.Errorf("a member has env %v", app.Env)
	}
	other := adaptertest.Task(t, a, root+"/other", "test")
	if d := cmp.Diff(map[string]string{"GOWORK": "off"}, other.Env); d != "" || len(other.ExtraInputs) != 0 {
		t.Errorf("of a module that is no member: inputs %v, env %s", other.ExtraInputs, d)
	}
}

func TestWorkspaceAboveTheRepositoryIsNotOurs(t *testing.T) {
	root := adaptertest.Project(t, `
-- go.work --
not even read
-- repo/.git/HEAD --
-- repo/go.mod --
module example.com/repo
-- repo/x.go --
`)
	got := adaptertest.Task(t, golang.New(snapshot.Options{Env: adaptertest.Env("GOWORK=")}), root+"/repo", "build")
	if d := cmp.Diff(map[string]string{"GOWORK": "off"}, got.Env); d != "" {
		t.Error(d)
	}
	got = adaptertest.Task(t, golang.New(snapshot.Options{Env: adaptertest.Env("GOWORK=off")}), root+"/repo", "build")
	if len(got.Env) != 0 {
		t.Errorf("where the user says so: %v", got.Env)
	}
}

func TestMembersOfAModuleAreItsReplacementsInside(t *testing.T) {
	root := adaptertest.Project(t, `
-- m/go.mod --
module m
require (
	sub v0.0.0
	beside v0.0.0
)
replace (
	sub => ./sub
	beside => ../beside
)
-- m/x.go --
`)
	got := adaptertest.Tasks(t, golang.New(snapshot.Options{Env: adaptertest.Env()}), root+"/m")
	if d := cmp.Diff([]string{root + "/m/sub"}, got.Members); d != "" {
		t.Error(d)
	}
}

func TestReadsCoverWhatWasLookedFor(t *testing.T) {
	root := adaptertest.Project(t, workspace)
	reads := adaptertest.Tasks(t, golang.New(snapshot.Options{Env: adaptertest.Env("GOWORK=")}), root+"/app").Reads
	for _, name := range []string{"go.work", "app/go.mod", "app/go.work", "app", "lib/go.mod", "app/.golangci.yml", ".golangci.yml", "app/app"} {
		if reads[filepath.Join(root, name)].Kind == adapters.Unseen {
			t.Errorf("reads lack %s", name)
		}
	}
}

func TestMalformedManifests(t *testing.T) {
	root := adaptertest.Project(t, `
-- mod/go.mod --
module mod
go 1.22
require (
	a.com/b v1.0.0
	c.com/d latest
)
replace x y
-- work/go.work --
go 1.22
us ./a
`)
	a := golang.New(snapshot.Options{Env: adaptertest.Env("GOWORK=")})
	_, err := a.Tasks(t.Context(), root+"/mod")
	want := "mod/go.mod:5:2: require c.com/d: version \"latest\" invalid: must be of the form v1.2.3\n" +
		"mod/go.mod:7:1: usage: replace module/path [v1.2.3] => other/module v1.4\n\t or replace module/path [v1.2.3] => ../local/directory"
	if d := cmp.Diff(want, adaptertest.Where(t, root, err)); d != "" {
		t.Error(d)
	}
	_, err = a.Links(t.Context(), root+"/work")
	if d := cmp.Diff("work/go.work:2:1: unknown directive: us", adaptertest.Where(t, root, err)); d != "" {
		t.Error(d)
	}
}

func TestHugeManifestIsRefused(t *testing.T) {
	root := adaptertest.Project(t, "")
	adaptertest.Write(t, root+"/go.mod", "module m\n//"+strings.Repeat("x", snapshot.MaxManifest))
	_, err := golang.New(snapshot.Options{Env: adaptertest.Env()}).Tasks(t.Context(), root)
	if err == nil || !strings.Contains(err.Error(), "larger than 16 MiB") {
		t.Errorf("got %v", err)
	}
}

func TestRecipesRun(t *testing.T) {
	adaptertest.Drive(t, "go")
	root := adaptertest.Fixture(t, "go")
	env := adaptertest.Env("SECRET=1", "GOWORK=", "GOFLAGS=-buildvcs=false") // its .git is no repository
	a := golang.New(snapshot.Options{Env: env})
	for _, dish := range []string{"lib", "app"} {
		for _, task := range adaptertest.Tasks(t, a, filepath.Join(root, dish)).Tasks {
			if task.Script {
				continue
			}
			if exit, out := adaptertest.Run(t, a, env, filepath.Join(root, dish), task); exit != 0 {
				t.Errorf("%s: %s: exit %d\n%s", dish, task.Run, exit, out)
			}
		}
	}
	build := adaptertest.Task(t, a, root+"/app", "build")
	if fi, err := os.Stat(filepath.Join(root, "app", strings.TrimSuffix(build.Outputs[0], "/**"))); err != nil || fi.Mode()&0o111 == 0 {
		t.Errorf("output %v: %v", build.Outputs, err)
	}
	adaptertest.Replace(t, root+"/lib/lib.go", "cmp.Equal(a, b)", "!cmp.Equal(a, b)")
	for _, dish := range []string{"lib", "app"} {
		exit, out := adaptertest.Run(t, a, env, filepath.Join(root, dish), adaptertest.Task(t, a, filepath.Join(root, dish), "test"))
		if exit != 1 || !strings.Contains(out, "--- FAIL: Test") {
			t.Errorf("%s: a broken library: exit %d\n%s", dish, exit, out)
		}
	}
}

func TestRecipesRunInAWorkspace(t *testing.T) {
	adaptertest.Drive(t, "go")
	root := adaptertest.Project(t, workspace)
	adaptertest.Write(t, root+"/lib/deep/deep.go", "package deep\n")
	adaptertest.Replace(t, root+"/app/app.go", "\t\"fmt\"\n", "")
	env := adaptertest.Env("GOWORK=", "GOPROXY=off", "GOFLAGS=")
	a := golang.New(snapshot.Options{Env: env})
	for _, dish := range []string{"app", "lib", "other"} {
		dir := filepath.Join(root, dish)
		if exit, out := adaptertest.Run(t, a, env, dir, adaptertest.Task(t, a, dir, "test")); exit != 0 {
			t.Errorf("%s: exit %d\n%s", dish, exit, out)
		}
	}
}

func TestMissingGoCommandIsNamed(t *testing.T) {
	a := golang.New(snapshot.Options{Env: adapters.Environ{"PATH=/nowhere"}})
	_, err := a.ToolchainFingerprint(t.Context(), t.TempDir())
	_, basisErr := a.ToolchainBasis(t.Context(), t.TempDir())
	want := &adapters.MissingTool{Tool: "go", Hint: "see https://go.dev/doc/install"}
	if d := cmp.Diff([]any{want, want}, []any{err, basisErr}); d != "" {
		t.Error(d)
	}
}
