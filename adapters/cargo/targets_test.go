package cargo_test

import (
	"path/filepath"
	"testing"

	"github.com/bentobuild/bento/adapters/adaptertest"
	"github.com/bentobuild/bento/adapters/cargo"
	"github.com/bentobuild/bento/adapters/snapshot"
)

func TestNightlyBenchesAreLeftOut(t *testing.T) {
	root := adaptertest.Project(t, `
-- lib/Cargo.toml --
[package]
name = "lib"
[lints.rust]
unsafe_code = "forbid"
-- lib/src/lib.rs --
-- lib/benches/b.rs --
//! Measures.

#![feature(test)]
-- bin/Cargo.toml --
[package]
name = "bin"
[[bench]]
name = "b"
path = "perf/b.rs"
-- bin/src/main.rs --
-- bin/perf/b.rs --
#![feature(test)]
-- named/Cargo.toml --
[package]
name = "named"
[lib]
path = "named.rs"
-- named/named.rs --
-- named/benches/b/main.rs --
#![ feature(test) ]
-- stable/Cargo.toml --
[package]
name = "stable"
-- stable/src/lib.rs --
-- stable/benches/b.rs --
#![cfg_attr(nightly, feature(test))]
// #![feature(test)]
-- nightly/Cargo.toml --
[package]
name = "nightly"
-- nightly/rust-toolchain --
nightly-2026-01-01
-- nightly/src/lib.rs --
-- nightly/benches/b.rs --
#![feature(test)]
`)
	for dir, want := range map[string]string{
		"lib": "--lib --bins --tests --examples", "bin": "--bins --tests --examples", "named": "--lib --bins --tests --examples",
		"stable": "--all-targets", "nightly": "--all-targets",
	} {
		a := cargo.New(snapshot.Options{Env: adaptertest.Env()})
		if got := adaptertest.Task(t, a, filepath.Join(root, dir), "check").Run; got != "cargo check --locked "+want {
			t.Errorf("%s: %s", dir, got)
		}
		if dir == "lib" {
			want = "cargo clippy --locked " + want + " -- -D warnings"
			if got := adaptertest.Task(t, a, filepath.Join(root, dir), "lint").Run; got != want {
				t.Errorf("lint of %s: %s", dir, got)
			}
		}
	}
}
