package golang_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/adaptertest"
	"github.com/bentobuild/bento/adapters/golang"
	"github.com/bentobuild/bento/adapters/snapshot"
)

// shared is a workspace of three modules: app uses lib, which go.mod does not say.
const shared = `
-- go.work --
go 1.22
use (
	./app
	./lib
	./other
)
-- go.work.sum --
x.com/a v1.0.0 h1:a=
x.com/a v1.0.0/go.mod h1:am=
x.com/b v1.0.0 h1:b=
x.com/c v1.0.0 h1:c=
x.com/d v1.0.0 h1:d=
-- app/go.mod --
module ex.com/app
go 1.22
require x.com/a v1.0.0
-- app/main.go --
package main
import _ "ex.com/lib"
-- lib/go.mod --
module ex.com/lib
go 1.22
require x.com/b v1.0.0
replace x.com/b => x.com/d v1.0.0
-- lib/lib.go --
package lib
-- other/go.mod --
module ex.com/other
go 1.22
require x.com/c v1.0.0
-- other/other.go --
package other
`

func TestLockDigest(t *testing.T) {
	a := golang.New(snapshot.Options{Env: adaptertest.Env("GOWORK=")})
	root := adaptertest.Project(t, shared)
	digests := func() map[string]string {
		all := make(map[string]string)
		for _, dish := range []string{"app", "lib", "other"} {
			lock := adaptertest.Lock(t, a, root, root+"/"+dish)
			if lock.File != "go.work.sum" || lock.Digest == "" || lock.Whole != "" {
				t.Errorf("%s: %+v", dish, lock)
			}
			all[dish] = lock.Digest
		}
		return all
	}
	before := digests()
	for _, test := range []struct{ old, new, moves string }{
		{"x.com/a v1.0.0 h1:a=", "x.com/a v1.1.0 h1:aa=", "app"},
		{"x.com/b v1.0.0 h1:b=", "x.com/b v1.0.0 h1:bb=", "app lib"},
		{"x.com/d v1.0.0 h1:d=", "x.com/d v1.0.0 h1:dd=", "app lib"}, // in place of b
		{"x.com/c v1.0.0 h1:c=\n", "", "other"},
		{"x.com/a v1.0.0 h1:a=", "x.com/unused v9.0.0 h1:x=\nx.com/a v1.0.0 h1:a=", ""},
		{"x.com/a v1.0.0 h1:a=\nx.com/a v1.0.0/go.mod h1:am=", "x.com/a v1.0.0/go.mod h1:am=\r\nx.com/a v1.0.0 h1:a=", ""},
	} {
		adaptertest.Replace(t, root+"/go.work.sum", test.old, test.new)
		var moved []string
		for dish, digest := range digests() {
			if digest != before[dish] {
				moved = append(moved, dish)
			}
		}
		if d := cmp.Diff(strings.Fields(test.moves), moved, cmpopts.SortSlices(strings.Compare), cmpopts.EquateEmpty()); d != "" {
			t.Errorf("%q: %s", test.new, d)
		}
		adaptertest.Write(t, root+"/go.work.sum", section(shared, "go.work.sum"))
	}
}

// section returns one file of an archive.
func section(archive, name string) string {
	_, rest, _ := strings.Cut(archive, "-- "+name+" --\n")
	text, _, _ := strings.Cut(rest, "\n-- ")
	return text + "\n"
}

func TestLockDigestOfAModule(t *testing.T) {
	a := golang.New(snapshot.Options{Env: adaptertest.Env("GOWORK=")})
	root := adaptertest.Project(t, `
-- new/go.mod --
module new
go 1.17
require x.com/a v1.0.0
-- new/go.sum --
x.com/a v1.0.0 h1:a=
-- old/go.mod --
module old
go 1.16
require x.com/a v1.0.0
-- old/go.sum --
x.com/a v1.0.0 h1:a=
-- none/go.mod --
module none
go 1.22
-- odd/go.mod --
module odd
go 1.22
-- odd/go.sum --

x.com/a v1.0.0
-- root/go.work --
go 1.22
`)
	if lock := adaptertest.Lock(t, a, root, root+"/new"); lock.File != "new/go.sum" || lock.Digest == "" {
		t.Errorf("%+v", lock)
	}
	for dish, want := range map[string]adapters.LockAnswer{
		"old":  {File: "old/go.sum", Whole: "old is older than go 1.17, which does not name all modules"},
		"odd":  {File: "odd/go.sum", Whole: "line 2 is not a line of a go.sum"},
		"none": {},
		"root": {},
	} {
		got := adaptertest.Lock(t, a, root, root+"/"+dish)
		got.Reads = nil
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", dish, d)
		}
	}
}
