package cargo_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/adaptertest"
	"github.com/bentobuild/bento/adapters/cargo"
	"github.com/bentobuild/bento/adapters/snapshot"
)

func TestInstallScope(t *testing.T) {
	a := cargo.New(snapshot.Options{Env: adaptertest.Env()})
	root := adaptertest.Project(t, workspace)
	adaptertest.Write(t, root+"/Cargo.lock", "version = 4\n[[package]]\nname = \"serde\"\nsource = \"registry\"\n")
	want := adapters.Scope{
		Dir: ".", Command: "cargo fetch --locked",
		Files: []string{".cargo/config.toml", "Cargo.lock", "Cargo.toml", "rust-toolchain"},
	}
	for _, dir := range []string{"", "/crates/app", "/crates/base"} {
		if d := cmp.Diff(want, adaptertest.Scope(t, a, root, root+dir)); d != "" {
			t.Errorf("from %q: %s", dir, d)
		}
	}
	if err := os.Remove(root + "/Cargo.lock"); err != nil {
		t.Fatal(err)
	}
	got := adaptertest.Scope(t, a, root, root+"/crates/app")
	if got.Command != "cargo fetch" || got.Nothing || !strings.Contains(strings.Join(got.Files, " "), "crates/base/Cargo.toml") {
		t.Errorf("without a lockfile: %+v", got)
	}
}

func TestInstallHasNothingToDo(t *testing.T) {
	root := adaptertest.Project(t, `
-- bare/Cargo.toml --
[package]
-- local/Cargo.toml --
[package]
[dependencies]
x = { path = "../bare" }
-- local/Cargo.lock --
[[package]]
name = "x"
-- open/Cargo.toml --
[package]
[dependencies]
x = { path = "../bare" }
`)
	a := cargo.New(snapshot.Options{Env: adaptertest.Env()})
	for dir, want := range map[string]bool{"bare": false, "local": true, "open": false} {
		if got := adaptertest.Scope(t, a, root, filepath.Join(root, dir)).Nothing; got != want {
			t.Errorf("%s: nothing to install is %v", dir, got)
		}
	}
}

func TestInstallFetches(t *testing.T) {
	adaptertest.Drive(t, "cargo")
	root := adaptertest.Fixture(t, "cargo")
	lock(t, root)
	env := adaptertest.Env("CARGO_NET_GIT_FETCH_WITH_CLI=false")
	var log []adapters.Log
	a := cargo.New(snapshot.Options{Env: env})
	req := adapters.InstallRequest{DishDir: root + "/app", DishName: "app", Env: env}
	if err := a.Install(t.Context(), req, func(l adapters.Log) { log = append(log, l) }); err != nil {
		adaptertest.Lack(t, "the crate itoa is not available: %v", err)
	}
	var offline = env.With(map[string]string{"CARGO_NET_OFFLINE": "true"})
	req.Env = offline
	if err := a.Install(t.Context(), req, nil); err != nil {
		t.Errorf("again without network: %v", err)
	}
	adaptertest.Replace(t, root+"/lib/Cargo.toml", `itoa = "1"`, `itoa = "0.4"`)
	log = nil
	err := a.Install(t.Context(), req, func(l adapters.Log) { log = append(log, l) })
	var failed *adapters.InstallError
	if !errors.As(err, &failed) || failed.Command != "cargo fetch --locked" || failed.ExitStatus != 101 || failed.Detail == "" {
		t.Errorf("with a stale lockfile: %v", err)
	}
	if len(log) == 0 || log[0].Stream != "stderr" {
		t.Errorf("log %v", log)
	}
}
