package cargo_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/adaptertest"
	"github.com/bentobuild/bento/adapters/cargo"
	"github.com/bentobuild/bento/adapters/snapshot"
)

func TestAdd(t *testing.T) {
	adaptertest.Drive(t, "cargo")
	root := adaptertest.Project(t, `
-- Cargo.toml --
[workspace]
members = ["app", "lib"]
resolver = "2"
-- app/Cargo.toml --
[package]
name = "app"
version = "0.1.0"
edition = "2021"
-- app/src/lib.rs --
-- lib/Cargo.toml --
[package]
name = "lib"
version = "0.1.0"
edition = "2021"
-- lib/src/lib.rs --
`)
	env := adaptertest.Env("CARGO_NET_OFFLINE=true")
	a := cargo.New(snapshot.Options{Env: env})
	req := adapters.AddRequest{DishDir: root + "/app", DishName: "app", Packages: []string{"lib"}, Dev: true, Env: adaptertest.TaskEnv(a, env)}
	// Without network only what is at hand can be added: members by their path.
	req.Packages = []string{"--path"}
	if err := a.Add(t.Context(), req, nil); err == nil {
		t.Error("an option was taken for one")
	}
	adaptertest.Write(t, root+"/app/Cargo.toml", "[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[dependencies]\nlib = { path = \"../lib\" }\n")
	req.Packages = []string{"lib"}
	if err := a.Add(t.Context(), req, nil); err != nil {
		t.Fatal(err)
	}
	manifest, err := os.ReadFile(root + "/app/Cargo.toml")
	if err != nil || !strings.Contains(string(manifest), "[dev-dependencies]\nlib = {") {
		t.Errorf("%v: %s", err, manifest)
	}
	if exit, said := adaptertest.Run(t, a, env, root+"/app", adaptertest.Task(t, a, root+"/app", "build")); exit != 0 {
		t.Errorf("the lockfile is stale: %s", said)
	}
	var not *adapters.Unsupported
	if err := a.Add(t.Context(), adapters.AddRequest{DishDir: root, Packages: []string{"lib"}}, nil); !errors.As(err, &not) {
		t.Errorf("a workspace: %v", err)
	}
}

func TestScaffold(t *testing.T) {
	adaptertest.Drive(t, "cargo", "cargo-clippy", "cc")
	env := adaptertest.Env("CARGO_NET_OFFLINE=true")
	a := cargo.New(snapshot.Options{Env: env})
	adaptertest.ScaffoldWorks(t, a, env, "build", "check", "test", "lint")
	dir := adaptertest.Scaffold(t, a, "0.Up")
	if exit, said := adaptertest.Run(t, a, env, dir, adaptertest.Task(t, a, dir, "build")); exit != 0 {
		t.Errorf("with an odd name: %s", said)
	}
}
