package cargo_test

import (
	"slices"
	"testing"

	"github.com/bentobuild/bento/adapters/adaptertest"
	"github.com/bentobuild/bento/adapters/cargo"
	"github.com/bentobuild/bento/adapters/snapshot"
)

// An alias lint that changes sources is no lint.
func TestLintAlias(t *testing.T) {
	for alias, want := range map[string]string{
		"clippy --all-targets":     "lint: cargo lint",
		"clippy --fix":             "",
		"fix --allow-dirty":        "",
		"fmt":                      "",
		"fmt --all --check":        "lint: cargo lint",
		"clippy -- -D warnings":    "lint: cargo lint",
		"clippy --fix --workspace": "",
	} {
		root := adaptertest.Project(t, "-- Cargo.toml --\n[package]\nname = \"x\"\n-- Cargo.lock --\n-- src/lib.rs --\n-- .cargo/config.toml --\n[alias]\nlint = \""+alias+"\"\n")
		got := ""
		for _, line := range lines(adaptertest.Tasks(t, cargo.New(snapshot.Options{Env: adaptertest.Env()}), root).Tasks) {
			if slices.Contains([]string{"lint: cargo lint", "+lint: cargo lint"}, line) {
				got = line
			}
		}
		if got != want {
			t.Errorf("%q: %q, want %q", alias, got, want)
		}
	}
}
