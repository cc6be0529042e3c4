package cargo_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/adaptertest"
	"github.com/bentobuild/bento/adapters/cargo"
	"github.com/bentobuild/bento/adapters/snapshot"
)

func TestLockDigest(t *testing.T) {
	a := cargo.New(snapshot.Options{Env: adaptertest.Env()})
	root := adaptertest.Project(t, `
-- Cargo.toml --
[workspace]
members = ["app", "lib"]
[workspace.package]
version = "2.0.0"
-- app/Cargo.toml --
[package]
name = "app"
version.workspace = true
-- lib/Cargo.toml --
[package]
name = "lib"
version = "1.0.0"
-- Cargo.lock --
version = 4

[[package]]
name = "app"
version = "2.0.0"
dependencies = [
 "lib",
 "ryu",
]

[[package]]
name = "lib"
version = "1.0.0"

[[package]]
name = "app"
version = "1.0.0"
source = "registry+https://example.com/index"
checksum = "dd"

[[package]]
name = "ryu"
version = "1.0.0"
source = "registry+https://example.com/index"
checksum = "cc"
-- alone/Cargo.toml --
[package]
name = "alone"
[workspace]
`)
	app, lib := adaptertest.Lock(t, a, root, root+"/app"), adaptertest.Lock(t, a, root, root+"/lib")
	if app.File != "Cargo.lock" || app.Digest == "" || lib.Digest == "" || app.Digest == lib.Digest {
		t.Errorf("%+v, %+v", app, lib)
	}
	adaptertest.Replace(t, root+"/Cargo.lock", `"cc"`, `"ee"`)
	if got := adaptertest.Lock(t, a, root, root+"/app"); got.Digest == app.Digest {
		t.Error("another checksum changes nothing")
	}
	if got := adaptertest.Lock(t, a, root, root+"/lib"); got.Digest != lib.Digest {
		t.Error("a package that it does not use changes what lib gets")
	}
	adaptertest.Replace(t, root+"/Cargo.lock", "version = 4", "version = 9")
	for dir, want := range map[string]adapters.LockAnswer{
		"lib":   {File: "Cargo.lock", Whole: "Cargo.lock version 9 is not known"},
		"alone": {},
		"":      {}, // a workspace as such: all of it
	} {
		got := adaptertest.Lock(t, a, root, root+"/"+dir)
		got.Reads = nil
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%q: %s", dir, d)
		}
	}
}
