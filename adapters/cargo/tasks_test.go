package cargo_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/adaptertest"
	"github.com/bentobuild/bento/adapters/cargo"
	"github.com/bentobuild/bento/adapters/snapshot"
)

func TestDetect(t *testing.T) {
	root := adaptertest.Project(t, "-- a/Cargo.toml --\n-- b/cargo.toml --\n-- c/Cargo.toml/x --\n")
	a := cargo.New(snapshot.Options{Env: adaptertest.Env()})
	for dir, want := range map[string]bool{"a": true, "b": false, "c": false, "d": false} {
		if got, err := a.Detect(t.Context(), filepath.Join(root, dir)); err != nil || got != want {
			t.Errorf("%s: %v, %v; want %v", dir, got, err, want)
		}
	}
}

// lines returns tasks as "name: command", scripts with a "+".
func lines(list []adapters.Task) []string {
	var all []string
	for _, t := range list {
		line := t.Name + ": " + t.Run
		if t.Script {
			line = "+" + line
		}
		all = append(all, line)
	}
	return all
}

func TestRecipes(t *testing.T) {
	root := adaptertest.Project(t, `
-- lib/Cargo.toml --
[package]
name = "lib"
-- bin/Cargo.toml --
[package]
name = "bin"
[lints]
workspace = true
[[bench]]
name = "b"
-- bin/Cargo.lock --
-- bin/src/main.rs --
-- two/Cargo.toml --
[package]
name = "two"
[lints.rust]
unsafe_code = "forbid"
-- two/src/main.rs --
-- two/src/bin/other.rs --
-- two/benches/x.rs --
-- clippy/.git/HEAD --
-- clippy/Cargo.toml --
[package]
name = "clippy"
default-run = "x"
-- clippy/rust-toolchain.toml --
[toolchain]
components = ["clippy"]
-- empty/Cargo.toml --
`)
	for dir, want := range map[string][]string{
		"lib": {"build: cargo build --locked", "check: cargo check --locked --all-targets", "test: cargo test --locked", "+format: cargo fmt"},
		"bin": {
			"build: cargo build --locked", "check: cargo check --locked --all-targets", "test: cargo test --locked",
			"+format: cargo fmt", "+bench: cargo bench --locked", "+run: cargo run --locked",
		},
		"two": {
			"build: cargo build --locked", "check: cargo check --locked --all-targets", "test: cargo test --locked",
			"lint: cargo clippy --locked --all-targets -- -D warnings", "+format: cargo fmt", "+bench: cargo bench --locked",
		},
		"clippy": {
			"build: cargo build --locked", "check: cargo check --locked --all-targets", "test: cargo test --locked",
			"lint: cargo clippy --locked --all-targets -- -D warnings", "+format: cargo fmt", "+run: cargo run --locked",
		},
		"empty": nil,
	} {
		got := adaptertest.Tasks(t, cargo.New(snapshot.Options{Env: adaptertest.Env()}), filepath.Join(root, dir))
		if d := cmp.Diff(want, lines(got.Tasks)); d != "" {
			t.Errorf("%s: %s", dir, d)
		}
		if got.Aggregate != (dir == "empty") {
			t.Errorf("%s: aggregate %v", dir, got.Aggregate)
		}
	}
}

const workspace = `
-- Cargo.toml --
[workspace]
members = ["crates/*", "tools/[!x]*", "absent"]
exclude = ["crates/out", "vendor"]
[workspace.package]
rust-version = "1.56"
[workspace.dependencies]
base = { path = "crates/base" }
serde = "1"
[workspace.lints.clippy]
all = "warn"
[patch.crates-io]
fork = { path = "vendor/fork" }
-- Cargo.lock --
-- clippy.toml --
-- rust-toolchain --
stable
-- .cargo/config.toml --
[alias]
xtask = "run --package xtask --"
lint = ["clippy", "--workspace"]
ck = "check --workspace"
b = "build"
"od d" = "x"
-- crates/app/Cargo.toml --
[package]
name = "app"
rust-version.workspace = true
[lints]
workspace = true
[dependencies]
base.workspace = true
serde.workspace = true
hidden = { path = "hidden" }
far = { path = "../../../far" }
[dev-dependencies]
testing = { path = "../testing", version = "1" }
[target.'cfg(unix)'.build-dependencies.gen]
version = "0.1"
path = "../gen"
-- crates/app/hidden/Cargo.toml --
[package]
name = "hidden"
-- crates/base/Cargo.toml --
[package]
name = "base"
build = "../../build/gen.rs"
-- crates/gen/Cargo.toml --
[package]
name = "gen"
-- crates/testing/Cargo.toml --
[package]
name = "testing"
-- crates/out/Cargo.toml --
[package]
name = "out"
-- crates/empty/readme --
-- tools/a/Cargo.toml --
[package]
name = "a"
-- tools/xa/Cargo.toml --
[package]
name = "xa"
`

func TestWorkspace(t *testing.T) {
	root := adaptertest.Project(t, workspace)
	a := cargo.New(snapshot.Options{Env: adaptertest.Env()})
	top := adaptertest.Tasks(t, a, root)
	members := make([]string, len(top.Members))
	for i, dir := range top.Members {
		members[i] = adaptertest.Relative(root, dir)
	}
	want := []string{"crates/app", "crates/app/hidden", "crates/base", "crates/gen", "crates/testing", "tools/a"}
	if d := cmp.Diff(want, members); d != "" || !top.Aggregate {
		t.Errorf("members of the root: aggregate %v %s", top.Aggregate, d)
	}
	wantTasks := []string{"+ck: cargo ck", "+lint: cargo lint", "+xtask: cargo xtask"}
	if d := cmp.Diff(wantTasks, lines(top.Tasks)); d != "" {
		t.Errorf("root: %s", d)
	}
	wantTasks = []string{
		"build: cargo build --locked", "check: cargo check --locked --all-targets", "test: cargo test --locked",
		"lint: cargo lint", "+format: cargo fmt", "+ck: cargo ck", "+xtask: cargo xtask",
	}
	if d := cmp.Diff(wantTasks, lines(adaptertest.Tasks(t, a, root+"/crates/app").Tasks)); d != "" {
		t.Errorf("member: %s", d)
	}
	if got := lines(adaptertest.Tasks(t, a, root+"/crates/out").Tasks)[0]; got != "build: cargo build --locked" {
		t.Errorf("excluded: %s", got)
	}
}

func TestOnlyAliasesThatBuildAreCached(t *testing.T) {
	root := adaptertest.Project(t, workspace)
	a := cargo.New(snapshot.Options{Env: adaptertest.Env()})
	if got := adaptertest.Task(t, a, root, "xtask"); !got.NoCache || !got.SideEffects {
		t.Errorf("xtask: %+v", got)
	}
	if got := adaptertest.Task(t, a, root, "ck"); got.NoCache || got.SideEffects {
		t.Errorf("ck: %+v", got)
	}
}

func TestInputsAboveTheDish(t *testing.T) {
	root := adaptertest.Project(t, workspace)
	a := cargo.New(snapshot.Options{Env: adaptertest.Env()})
	common := []string{"Cargo.toml", "Cargo.lock", ".cargo/config.toml", "rust-toolchain"}
	for _, tt := range []struct {
		dir, task string
		want      []string
	}{
		{"crates/app", "build", common},
		{"crates/app", "lint", append([]string{"clippy.toml"}, common...)},
		{"crates/base", "test", append(slices.Clone(common), "build")},
		{"crates/out", "build", common[2:]},
		{".", "xtask", nil},
	} {
		var got []string
		for _, path := range adaptertest.Task(t, a, filepath.Join(root, tt.dir), tt.task).ExtraInputs {
			got = append(got, adaptertest.Relative(root, path))
		}
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("%s:%s: %s", tt.dir, tt.task, d)
		}
	}
}

func TestReadsCoverWhatWasLookedFor(t *testing.T) {
	root := adaptertest.Project(t, workspace)
	reads := adaptertest.Tasks(t, cargo.New(snapshot.Options{Env: adaptertest.Env()}), root+"/crates/base").Reads
	for _, name := range []string{
		"Cargo.toml", "crates/Cargo.toml", "crates/base/Cargo.toml", ".cargo/config", "crates/.cargo/config.toml",
		"crates/base/rust-toolchain.toml", "crates/base/benches", "crates/base/src/main.rs", "crates/base/clippy.toml",
	} {
		if reads[filepath.Join(root, name)].Kind == adapters.Unseen {
			t.Errorf("reads lack %s", name)
		}
	}
}

func TestMembersOfAPackageArePathDependenciesInside(t *testing.T) {
	root := adaptertest.Project(t, `
-- a/Cargo.toml --
[package]
name = "a"
[dependencies]
inner = { path = "inner" }
beside = { path = "../beside" }
-- a/inner/Cargo.toml --
[package]
name = "inner"
[dependencies]
deep.path = "deep"
-- a/inner/deep/Cargo.toml --
[package]
name = "deep"
[dependencies]
a.path = "../.."
-- a/examples/other/Cargo.toml --
[package]
name = "other"
`)
	got := adaptertest.Tasks(t, cargo.New(snapshot.Options{Env: adaptertest.Env()}), root+"/a").Members
	if d := cmp.Diff([]string{root + "/a/inner", root + "/a/inner/deep"}, got); d != "" {
		t.Error(d)
	}
}

func TestAMemberNamesItsWorkspace(t *testing.T) {
	root := adaptertest.Project(t, `
-- ws/Cargo.toml --
[workspace]
members = ["../beside"]
-- ws/Cargo.lock --
-- beside/Cargo.toml --
[package]
name = "beside"
workspace = "../ws"
`)
	a := cargo.New(snapshot.Options{Env: adaptertest.Env()})
	if got := adaptertest.Task(t, a, root+"/beside", "build").Run; got != "cargo build --locked" {
		t.Error(got)
	}
	if got := adaptertest.Tasks(t, a, root+"/ws").Members; len(got) != 1 || got[0] != root+"/beside" {
		t.Errorf("members %v", got)
	}
}

func TestMembersWithDoubleStar(t *testing.T) {
	root := adaptertest.Project(t, `
-- Cargo.toml --
[workspace]
members = ["a/**"]
-- a/Cargo.toml --
[package]
-- a/b/c/Cargo.toml --
[package]
-- a/.hidden/Cargo.toml --
[package]
`)
	got := adaptertest.Tasks(t, cargo.New(snapshot.Options{Env: adaptertest.Env()}), root).Members
	if d := cmp.Diff([]string{root + "/a", root + "/a/b/c"}, got); d != "" {
		t.Error(d)
	}
}

func TestMalformedFiles(t *testing.T) {
	root := adaptertest.Project(t, `
-- manifest/Cargo.toml --
[package]
name = "x
-- twice/Cargo.toml --
[package]
name = "a"
name = "b"
-- config/Cargo.toml --
[package]
-- config/.cargo/config.toml --
[alias
-- channel/Cargo.toml --
[package]
-- channel/rust-toolchain --
a channel
-- below/Cargo.toml --
[workspace]
members = ["m"
-- below/m/Cargo.toml --
[package]
`)
	adaptertest.Write(t, root+"/wide/Cargo.toml", "\xff\xfe[\x00p\x00")
	for dir, want := range map[string]string{
		"wide":     "wide/Cargo.toml:1:4: a NUL byte; expected UTF-8",
		"manifest": "manifest/Cargo.toml:2:",
		"twice":    "twice/Cargo.toml:3:1: ",
		"config":   "config/.cargo/config.toml:1:",
		"channel":  "channel/rust-toolchain:1: \"a channel\" is not the name of a toolchain",
		"below/m":  "below/Cargo.toml:",
	} {
		_, err := cargo.New(snapshot.Options{Env: adaptertest.Env()}).Tasks(t.Context(), filepath.Join(root, dir))
		if got := adaptertest.Where(t, root, err); !strings.HasPrefix(got, want) || strings.Contains(got, "\n") {
			t.Errorf("%s: %q, want %q", dir, got, want)
		}
	}
}

func TestManifestsAsEditorsOnWindowsWriteThem(t *testing.T) {
	root := adaptertest.Project(t, "")
	adaptertest.Write(t, root+"/Cargo.toml", "\ufeff[package]\r\nname = \"x\"\r\nrust-version = \"1.60\"\r\n")
	pin, err := cargo.New(snapshot.Options{Env: adaptertest.Env()}).RequiredToolchain(t.Context(), root)
	if err != nil || pin == nil || pin.Version != "1.60" || pin.Line != 3 {
		t.Errorf("%+v, %v", pin, err)
	}
}

func TestAManifestMayBeTooLarge(t *testing.T) {
	root := adaptertest.Project(t, "-- Cargo.toml --\n[package]\n")
	if err := os.Truncate(root+"/Cargo.toml", snapshot.MaxManifest+1); err != nil {
		t.Fatal(err)
	}
	_, err := cargo.New(snapshot.Options{Env: adaptertest.Env()}).Tasks(t.Context(), root)
	if err == nil || !strings.Contains(err.Error(), "Cargo.toml: larger than 16 MiB") {
		t.Errorf("%v", err)
	}
}

func TestRecipesRun(t *testing.T) {
	adaptertest.Drive(t, "cargo")
	root := adaptertest.Fixture(t, "cargo")
	lock(t, root)
	env := adaptertest.Env("SECRET=1")
	a := cargo.New(snapshot.Options{Env: env})
	ran := 0
	for _, dish := range []string{"lib", "app"} {
		for _, task := range adaptertest.Tasks(t, a, filepath.Join(root, dish)).Tasks {
			if task.Script {
				continue
			}
			ran++
			if exit, out := adaptertest.Run(t, a, env, filepath.Join(root, dish), task); exit != 0 {
				t.Errorf("%s: %s: exit %d\n%s", dish, task.Run, exit, out)
			}
		}
	}
	if ran != 7 { // app has no lint
		t.Errorf("%d tasks", ran)
	}
	adaptertest.Replace(t, root+"/lib/src/lib.rs", `"book {}"`, `"tome {}"`)
	for _, dish := range []string{"lib", "app"} {
		dir := filepath.Join(root, dish)
		if exit, out := adaptertest.Run(t, a, env, dir, adaptertest.Task(t, a, dir, "test")); exit != 101 || !strings.Contains(out, "labels_") {
			t.Errorf("%s: a broken library: exit %d\n%s", dish, exit, out)
		}
	}
	adaptertest.Replace(t, root+"/lib/Cargo.toml", `itoa = "1"`, `itoa = "0.4"`)
	if exit, out := adaptertest.Run(t, a, env, root+"/lib", adaptertest.Task(t, a, root+"/lib", "check")); exit != 101 || !strings.Contains(out, "--locked") {
		t.Errorf("a stale lockfile: exit %d\n%s", exit, out)
	}
}

func TestRecipesRunInAWorkspace(t *testing.T) {
	adaptertest.Drive(t, "cargo")
	root := adaptertest.Project(t, `
-- Cargo.toml --
[workspace]
members = ["crates/*"]
resolver = "2"
[workspace.dependencies]
base = { path = "crates/base" }
[workspace.lints.clippy]
all = "warn"
-- .cargo/config.toml --
[alias]
hello = "run --quiet -p app --"
-- crates/app/Cargo.toml --
[package]
name = "app"
version = "0.1.0"
edition = "2021"
[dependencies]
base.workspace = true
[lints]
workspace = true
-- crates/app/src/main.rs --
fn main() {
    println!("{}", base::answer());
}
-- crates/base/Cargo.toml --
[package]
name = "base"
version = "0.1.0"
edition = "2021"
-- crates/base/src/lib.rs --
pub fn answer() -> u32 {
    42
}
`)
	lock(t, root)
	env := adaptertest.Env()
	a := cargo.New(snapshot.Options{Env: env})
	for _, name := range []string{"build", "lint", "test"} {
		if exit, out := adaptertest.Run(t, a, env, root+"/crates/app", adaptertest.Task(t, a, root+"/crates/app", name)); exit != 0 {
			t.Errorf("%s: exit %d\n%s", name, exit, out)
		}
	}
	if exit, out := adaptertest.Run(t, a, env, root, adaptertest.Task(t, a, root, "hello")); exit != 0 || !strings.HasPrefix(out, "42\n") {
		t.Errorf("hello: exit %d\n%s", exit, out)
	}
}
