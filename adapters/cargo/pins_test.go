package cargo_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/adaptertest"
	"github.com/bentobuild/bento/adapters/cargo"
	"github.com/bentobuild/bento/adapters/snapshot"
)

const pinned = `
-- plain/Cargo.toml --
[package]
rust-version = "1.60"
-- plain/rust-toolchain --
1.75.0
-- toml/rust-toolchain --
# legacy name, new form
[toolchain]
channel = "nightly-2025-02-20"
-- toml/sub/Cargo.toml --
[package]
-- both/Cargo.toml --
[package]
-- both/rust-toolchain --
beta
-- both/rust-toolchain.toml --
[toolchain]
channel = "stable"
-- path/Cargo.toml --
[package]
-- path/rust-toolchain.toml --
[toolchain]
path = "/opt/rust"
-- asdf/Cargo.toml --
[package]
rust-version = "1.60"
-- asdf/.tool-versions --
rust 1.70.0
-- msrv/Cargo.toml --
[package]
name = "msrv"
rust-version = "1.60"
-- ws/Cargo.toml --
[workspace]
[workspace.package]
rust-version = "1.61"
-- ws/m/Cargo.toml --
[package]
rust-version = { workspace = true }
-- none/Cargo.toml --
[package]
`

// B28 among others: rust-toolchain, the legacy name, may hold TOML.
func TestRequiredToolchain(t *testing.T) {
	root := adaptertest.Project(t, pinned)
	a := cargo.New(snapshot.Options{Env: adaptertest.Env()})
	for dir, want := range map[string]*adapters.Toolchain{
		"plain":    {Version: "1.75.0", File: "plain/rust-toolchain", Line: 1, Strict: true},
		"toml/sub": {Version: "nightly-2025-02-20", File: "toml/rust-toolchain", Line: 3, Strict: true},
		"both":     {Version: "beta", File: "both/rust-toolchain", Line: 1, Strict: true},
		"path":     nil,
		"asdf":     {Version: "1.70.0", File: "asdf/.tool-versions", Line: 1},
		"msrv":     {Version: "1.60", File: "msrv/Cargo.toml", Line: 3, Strict: true},
		"ws/m":     {Version: "1.61", File: "ws/Cargo.toml", Line: 3, Strict: true},
		"none":     nil,
	} {
		got, err := a.RequiredToolchain(t.Context(), filepath.Join(root, dir))
		if err != nil {
			t.Errorf("%s: %v", dir, err)
			continue
		}
		if got != nil {
			got.File = adaptertest.Relative(root, got.File)
		}
		if want != nil {
			want.Tool = "rust"
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", dir, d)
		}
	}
}

func TestCheckPin(t *testing.T) {
	const (
		stable  = "rustc 1.95.0 (59807616e 2026-04-14)\ncommit-date: 2026-04-14\nrelease: 1.95.0\n"
		nightly = "rustc 1.97.0-nightly (abc 2026-05-01)\ncommit-date: 2026-05-01\nrelease: 1.97.0-nightly\n"
		beta    = "release: 1.96.0-beta.3\n"
	)
	a := cargo.New(snapshot.Options{Env: adaptertest.Env()})
	for _, tt := range []struct {
		file, want, have string
		ok               bool
	}{
		{"rust-toolchain.toml", "stable", stable, true},
		{"rust-toolchain.toml", "stable-x86_64-unknown-linux-gnu", stable, true},
		{"rust-toolchain.toml", "stable", nightly, false},
		{"rust-toolchain.toml", "1.95", stable, true},
		{"rust-toolchain.toml", "1.95.0-x86_64-unknown-linux-gnu", stable, true},
		{"rust-toolchain.toml", "1.9", stable, false},
		{"rust-toolchain.toml", "1.95.1", stable, false},
		{"rust-toolchain.toml", "1.97", nightly, false},
		{"rust-toolchain.toml", "nightly", nightly, true},
		{"rust-toolchain.toml", "nightly", stable, false},
		{"rust-toolchain.toml", "nightly-2026-05-02", nightly, true},
		{"rust-toolchain.toml", "nightly-2026-05-20", nightly, false},
		{"rust-toolchain.toml", "beta", beta, true},
		{"rust-toolchain.toml", "1.96.0-beta", beta, true},
		{"rust-toolchain.toml", "1.96.0-beta.2", beta, false},
		{"rust-toolchain.toml", "my-own-build", stable, true},
		{"Cargo.toml", "1.60", stable, true},
		{"Cargo.toml", "1.95.1", stable, false},
		{"Cargo.toml", "1.97", nightly, true},
		{"bento.toml", ">=1.80", stable, true},
		{"bento.toml", "^1.96", stable, false},
		{"bento.toml", "1.90", stable, false},
	} {
		got := a.CheckPin(adapters.Toolchain{Tool: "rust", Version: tt.want, File: "/w/" + tt.file}, tt.have)
		hint := "rustup override set " + tt.want // an installed version that rustup does not select is of no use
		switch tt.file {
		case "rust-toolchain.toml":
			hint = "rustup toolchain install " + tt.want
		case "bento.toml":
			hint = strings.Replace(hint, "^1.96", "VERSION", 1)
		}
		if got.OK != tt.ok || !got.OK && !strings.Contains(got.Hint, hint) {
			t.Errorf("%s: %s with %s: %+v", tt.file, tt.want, tt.have, got)
		}
	}
}
