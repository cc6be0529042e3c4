package golang_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/adaptertest"
	"github.com/bentobuild/bento/adapters/golang"
	"github.com/bentobuild/bento/adapters/snapshot"
)

func TestLinksOfReplacements(t *testing.T) {
	root := adaptertest.Project(t, `
-- app/go.mod --
module app
go 1.22
require (
	example.com/lib v0.0.0
	example.com/far v1.0.0
)
replace example.com/lib => ../lib
replace (
	example.com/far v1.0.0 => example.com/fork v1.0.1
	example.com/unused => ../unused
	app => ./
)
-- old/go.mod --
module old
go 1.16
replace example.com/unused => ../unused
`)
	a := golang.New(snapshot.Options{Env: adaptertest.Env("GOWORK=")})
	want := []adapters.Link{{Dir: "lib", File: "app/go.mod", Line: 7}}
	if d := cmp.Diff(want, adaptertest.Links(t, a, root, root+"/app"), cmpopts.IgnoreFields(adapters.Link{}, "As")); d != "" {
		t.Error(d)
	}
	want = []adapters.Link{{Dir: "unused", File: "old/go.mod", Line: 3}}
	if d := cmp.Diff(want, adaptertest.Links(t, a, root, root+"/old"), cmpopts.IgnoreFields(adapters.Link{}, "As")); d != "" {
		t.Errorf("before go 1.17: %s", d)
	}
}

func TestLinksInAWorkspace(t *testing.T) {
	root := adaptertest.Project(t, workspace)
	a := golang.New(snapshot.Options{Env: adaptertest.Env("GOWORK=")})
	want := []adapters.Link{{Package: "go:ROOT:example.com/lib", File: "app/app.go", Line: 5}}
	if d := cmp.Diff(want, adaptertest.Links(t, a, root, root+"/app"), cmpopts.IgnoreFields(adapters.Link{}, "As")); d != "" {
		t.Errorf("by import: %s", d)
	}
	want = []adapters.Link{{Package: "go:ROOT:example.com/app", File: "lib/lib_test.go", Line: 3, Dev: true, Private: true}}
	if d := cmp.Diff(want, adaptertest.Links(t, a, root, root+"/lib"), cmpopts.IgnoreFields(adapters.Link{}, "As")); d != "" {
		t.Errorf("by the import of a test: %s", d)
	}
	adaptertest.Write(t, root+"/app/go.mod", "module example.com/app\ngo 1.22\nrequire example.com/lib v1.0.0\n")
	a = golang.New(snapshot.Options{Env: adaptertest.Env("GOWORK=")}) // one trusts what it saw for a second
	want = []adapters.Link{{Package: "go:ROOT:example.com/lib", File: "app/go.mod", Line: 3}}
	if d := cmp.Diff(want, adaptertest.Links(t, a, root, root+"/app"), cmpopts.IgnoreFields(adapters.Link{}, "As")); d != "" {
		t.Errorf("by requirement: %s", d)
	}
	if got := adaptertest.Links(t, a, root, root+"/other"); len(got) != 0 {
		t.Errorf("of no member: %v", got)
	}
	answer, err := a.Links(t.Context(), root+"/lib")
	if d := cmp.Diff([]string{"go:" + root + ":example.com/lib"}, answer.Provides); d != "" || err != nil {
		t.Errorf("provides: %v %s", err, d)
	}
}

func TestReplacementsOfOneMemberCountForAll(t *testing.T) {
	root := adaptertest.Project(t, `
-- go.work --
go 1.22
use ./a
use ./b
replace x.com/top => ./top
-- a/go.mod --
module a
go 1.22
require x.com/fork v1.0.0
require x.com/top v1.0.0
-- b/go.mod --
module b
go 1.22
replace x.com/fork => ./fork
`)
	want := []adapters.Link{
		{Dir: "top", File: "go.work", Line: 4},
		{Dir: "b/fork", File: "b/go.mod", Line: 3},
	}
	if d := cmp.Diff(want, adaptertest.Links(t, golang.New(snapshot.Options{Env: adaptertest.Env("GOWORK=")}), root, root+"/a"), cmpopts.IgnoreFields(adapters.Link{}, "As")); d != "" {
		t.Error(d)
	}
}

func TestAnImportBelongsToTheLongestModulePath(t *testing.T) {
	root := adaptertest.Project(t, `
-- go.work --
go 1.22
use (
	./a
	./long
	./short
)
-- a/go.mod --
module x.com/a
go 1.22
require x.com/short/required v1.0.0
-- a/a.go --
package a

import (
	_ "x.com/short/long/p"
	_ "x.com/short/required"
	_ "x.com/shorter"
)
-- long/go.mod --
module x.com/short/long
-- short/go.mod --
module x.com/short
`)
	want := []adapters.Link{{Package: "go:ROOT:x.com/short/long", File: "a/a.go", Line: 4}}
	if d := cmp.Diff(want, adaptertest.Links(t, golang.New(snapshot.Options{Env: adaptertest.Env("GOWORK=")}), root, root+"/a"), cmpopts.IgnoreFields(adapters.Link{}, "As")); d != "" {
		t.Error(d)
	}
}
