package cargo_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/adaptertest"
	"github.com/bentobuild/bento/adapters/cargo"
	"github.com/bentobuild/bento/adapters/snapshot"
)

func TestLinks(t *testing.T) {
	root := adaptertest.Project(t, workspace)
	want := []adapters.Link{
		{Dir: "vendor/fork", File: "Cargo.toml", Line: 12},
		{Dir: "crates/base", File: "crates/app/Cargo.toml", Line: 7},
		{Dir: "crates/app/hidden", File: "crates/app/Cargo.toml", Line: 9},
		{Dir: "../far", File: "crates/app/Cargo.toml", Line: 10},
		{Dir: "crates/testing", File: "crates/app/Cargo.toml", Line: 12, Dev: true, Private: true},
		{Dir: "crates/gen", File: "crates/app/Cargo.toml", Line: 15},
	}
	a := cargo.New(snapshot.Options{Env: adaptertest.Env()})
	if d := cmp.Diff(want, adaptertest.Links(t, a, root, root+"/crates/app")); d != "" {
		t.Error(d)
	}
	if got := adaptertest.Links(t, a, root, root); len(got) != 0 {
		t.Errorf("of a virtual manifest: %v", got)
	}
}

func TestLinksOfTheFixture(t *testing.T) {
	root := adaptertest.Fixture(t, "cargo")
	want := []adapters.Link{{Dir: "lib", File: "app/Cargo.toml", Line: 7}}
	if d := cmp.Diff(want, adaptertest.Links(t, cargo.New(snapshot.Options{Env: adaptertest.Env()}), root, root+"/app")); d != "" {
		t.Error(d)
	}
}

func TestLinksOfConfigurationAndDefaultMembers(t *testing.T) {
	root := adaptertest.Project(t, `
-- Cargo.toml --
[package]
name = "top"
[workspace]
members = ["m/*"]
default-members = [
  ".",
  "m/*",
]
[replace]
"old:1.0.0" = { path = "old" }
-- m/a/Cargo.toml --
[package]
-- .cargo/config.toml --
paths = ["over"]
[patch."https://example.com/x"]
p = { path = "patched" }
`)
	want := []adapters.Link{
		{Dir: "over", File: ".cargo/config.toml", Line: 1},
		{Dir: "patched", File: ".cargo/config.toml", Line: 3},
		{Dir: "m/a", File: "Cargo.toml", Line: 7, Deep: true},
		{Dir: "old", File: "Cargo.toml", Line: 10},
	}
	if d := cmp.Diff(want, adaptertest.Links(t, cargo.New(snapshot.Options{Env: adaptertest.Env()}), root, root)); d != "" {
		t.Error(d)
	}
}

// TestPatchesThatTakePart: with a lockfile a patch is a link of the packages that use it, by name or by
// way of a package from elsewhere.
func TestPatchesThatTakePart(t *testing.T) {
	root := adaptertest.Project(t, `
-- Cargo.toml --
[workspace]
members = ["*"]
[workspace.dependencies]
nick = { version = "1", package = "three" }
[patch.crates-io]
one = { path = "one" }
two = { path = "two" }
three = { path = "three" }
four = { path = "four" }
-- app/Cargo.toml --
[package]
name = "app"
version = "0.1.0"
[dependencies]
one = "1"
far = "1"
[dev-dependencies]
nick = { workspace = true }
one = "1"
-- Cargo.lock --
version = 4
[[package]]
name = "app"
version = "0.1.0"
dependencies = ["far", "one", "three"]
[[package]]
name = "far"
version = "1.0.0"
source = "registry+https://example.com/index"
dependencies = ["farther"]
[[package]]
name = "farther"
version = "1.0.0"
source = "registry+https://example.com/index"
dependencies = ["two", "far"]
[[package]]
name = "one"
version = "1.0.0"
dependencies = ["four"]
[[package]]
name = "two"
version = "1.0.0"
[[package]]
name = "three"
version = "1.0.0"
[[package]]
name = "four"
version = "1.0.0"
`)
	want := []adapters.Link{
		{Dir: "one", File: "Cargo.toml", Line: 6},
		{Dir: "two", File: "Cargo.toml", Line: 7},
		{Dir: "three", File: "Cargo.toml", Line: 8, Dev: true, Private: true},
	}
	a := cargo.New(snapshot.Options{Env: adaptertest.Env()})
	if d := cmp.Diff(want, adaptertest.Links(t, a, root, root+"/app")); d != "" {
		t.Error(d)
	}
}
