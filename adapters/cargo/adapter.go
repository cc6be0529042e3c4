// Package cargo is the adapter "cargo": packages and workspaces of Cargo, and the
// toolchains of rustup.
//
// It reads Cargo.toml, .cargo/config.toml and rust-toolchain files itself, without cargo
// metadata, so that a plan starts no process. Their meaning is described at
// https://doc.rust-lang.org/cargo/reference and https://rust-lang.github.io/rustup.
package cargo

import (
	"context"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/cargo/cargolock"
	"github.com/bentobuild/bento/adapters/cargo/cargotoml"
	"github.com/bentobuild/bento/adapters/cargo/rustup"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/internal/probe"
)

// identity is an ingredient of every key. It changes when a change to a recipe or a reader
// of manifests changes what a task does.
const identity = "builtin:2"

// Adapter is the adapter "cargo".
type Adapter struct {
	snapshot.Source
	adapters.NoParser
	env        adapters.Environ // of child processes
	asker      *probe.Asker
	download   bool // rustup may fetch toolchains
	manifest   *adapters.Manifest
	manifests  *snapshot.Parsed[*cargotoml.Manifest]
	configs    *snapshot.Parsed[*cargotoml.Config]
	locks      *snapshot.Parsed[*cargolock.Lock]
	toolchains *snapshot.Parsed[*rustup.File]
	seen       snapshot.Machine[machine]
	above      snapshot.Machine[string] // by the root of a workspace: see beyond
}

// New returns the adapter. With o.AllowDownload rustup may fetch the toolchain that a
// project requires; without it cargo uses installed toolchains only.
func New(o snapshot.Options) *Adapter {
	a := &Adapter{
		Source:     o.Source(),
		download:   o.AllowDownload,
		manifest:   newManifest(o.AllowDownload),
		manifests:  snapshot.NewParsed(cargotoml.Parse),
		configs:    snapshot.NewParsed(cargotoml.ParseConfig),
		locks:      snapshot.NewParsed(cargolock.Parse),
		toolchains: snapshot.NewParsed(rustup.Parse),
	}
	pass := append(passEnv(), a.manifest.SteeringEnv...)
	a.env = o.Env.Strict(pass...).With(a.manifest.SetEnv)
	a.asker = probe.New(o.Source(), a.env)
	return a
}

func newManifest(download bool) *adapters.Manifest {
	m := &adapters.Manifest{
		ProtocolVersion: adapters.ProtocolVersion,
		AdapterID:       "cargo",
		DisplayName:     "cargo",
		Runtime:         "rust",
		Projects:        []string{"Cargo.toml"},
		Inside:          insideRule,
		FingerprintFiles: []string{
			"Cargo.toml", "Cargo.lock", ".cargo/config.toml", ".cargo/config", "rust-toolchain", "rust-toolchain.toml",
			"clippy.toml", ".clippy.toml", "rustfmt.toml", ".rustfmt.toml", ".tool-versions",
		},
		DefaultTasks:    lifecycle(allTargets),
		Capabilities:    adapters.BuiltinCapabilities(),
		DiagnosticHooks: hooks(),
		EmbedsIn:        []string{".rs"},
		StopsAtFamily:   true, // cargo leaves the files of an inner package out of the outer one
		DerivedPaths:    []string{"target/**"},
		Finder:          finder(),
		Parallel:        8,
		Identity:        identity,
		PassEnv:         passEnv(),
		SteeringEnv:     steeringEnv(),
	}
	if !download {
		m.SetEnv = map[string]string{"RUSTUP_AUTO_INSTALL": "0"}
	}
	return m
}

func hooks() map[string]adapters.Hook {
	json := adapters.Hook{
		Parser: "cargo-message",
		Rerun:  adapters.Rerun{Kind: adapters.RerunAppend, Args: []string{"--message-format=json"}},
	}
	lint := adapters.Hook{
		Parser: "cargo-message",
		// Appended arguments would go to the compiler. A second run must not write a stale
		// lockfile either, so it has --locked in any case.
		Rerun: adapters.Rerun{
			Kind:    adapters.RerunReplace,
			Command: "cargo clippy --locked --all-targets --message-format=json -- -D warnings",
		},
	}
	// Tests do not run a second time: the parser reads their first output.
	test := adapters.Hook{Parser: json.Parser}
	return map[string]adapters.Hook{"build": json, "check": json, "test": test, "lint": lint}
}

// passEnv returns homes, caches, registries, and settings of appearance.
func passEnv() []string {
	return []string{
		"CARGO_HOME", "RUSTUP_HOME", "RUSTUP_DIST_SERVER", "RUSTUP_UPDATE_ROOT",
		"CARGO_NET_*", "CARGO_HTTP_*", "CARGO_REGISTRIES_*", "CARGO_REGISTRY_*", "CARGO_SOURCE_*",
		"CARGO_TERM_*", "RUST_BACKTRACE", "SCCACHE_*", "GIT_SSH", "GIT_SSH_COMMAND",
	}
}

// steeringEnv returns the variables of
// https://doc.rust-lang.org/cargo/reference/environment-variables.html that change the
// build, and those that common build scripts and tests read.
func steeringEnv() []string {
	return []string{
		"RUSTFLAGS", "RUSTDOCFLAGS", "CARGO_ENCODED_RUSTFLAGS", "CARGO_ENCODED_RUSTDOCFLAGS", "CARGO_INCREMENTAL",
		"RUSTC", "RUSTC_WRAPPER", "RUSTC_WORKSPACE_WRAPPER", "RUSTDOC", "RUSTC_BOOTSTRAP", "RUSTUP_TOOLCHAIN",
		"CARGO_BUILD_*", "CARGO_PROFILE_*", "CARGO_TARGET_*", "CARGO_UNSTABLE_*", "CARGO_RESOLVER_*", "CLIPPY_CONF_DIR",
		"CC", "CC_*", "CXX", "CXX_*", "AR", "AR_*", "CFLAGS", "CFLAGS_*", "CXXFLAGS", "CXXFLAGS_*", "LDFLAGS",
		"PKG_CONFIG", "PKG_CONFIG_*", "SDKROOT", "MACOSX_DEPLOYMENT_TARGET",
		"RUST_TEST_THREADS", "RUST_MIN_STACK", "RUST_LOG",
	}
}

// Manifest implements adapters.Adapter.
func (a *Adapter) Manifest() *adapters.Manifest { return a.manifest }

// Detect implements adapters.Adapter.
func (a *Adapter) Detect(_ context.Context, dir string) (bool, error) {
	return a.Files(dir).IsFile("Cargo.toml"), nil
}

// finder describes cargo, which reads the manifests of all members, and looks for their targets.
func finder() *adapters.Finder {
	return &adapters.Finder{
		Programs:  []string{"cargo", "cargo-clippy"},
		Looks:     []string{"main.rs", "lib.rs", "build.rs", "bin", "tests", "benches", "examples", "README", "README.*"},
		Elsewhere: []string{"-p", "--package", "--workspace", "--all", "--manifest-path", "-C"},
	}
}
