package cargo_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/adaptertest"
	"github.com/bentobuild/bento/adapters/cargo"
	"github.com/bentobuild/bento/adapters/snapshot"
)

func basis(t *testing.T, env adapters.Environ, dir string) string {
	t.Helper()
	text, err := cargo.New(snapshot.Options{Env: env}).ToolchainBasis(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestFingerprintIsTheSameInEveryDish(t *testing.T) {
	adaptertest.Drive(t, "cargo")
	root := adaptertest.Fixture(t, "cargo")
	a := cargo.New(snapshot.Options{Env: adaptertest.Env()})
	var first string
	for _, dish := range []string{"lib", "app"} {
		got, err := a.ToolchainFingerprint(t.Context(), filepath.Join(root, dish))
		if err != nil {
			t.Fatal(err)
		}
		if first == "" {
			first = got
		}
		if got != first || !strings.HasPrefix(got, "rustc 1.") || !strings.Contains(got, "\nrelease: 1.") || !strings.Contains(got, "\ncargo 1.") {
			t.Errorf("%s: %s", dish, got)
		}
	}
	if basis(t, adaptertest.Env(), root+"/lib") != basis(t, adaptertest.Env(), root+"/app") {
		t.Error("the basis differs")
	}
}

func TestAToolchainThatIsNotInstalledIsNamed(t *testing.T) {
	env := adaptertest.Rustup(t, t.TempDir(), adaptertest.Env("RUSTUP_AUTO_INSTALL=1"))
	root := adaptertest.Project(t, "-- rust-toolchain.toml --\n[toolchain]\nchannel = \"1.33.7\"\n")
	_, err := cargo.New(snapshot.Options{Env: env}).ToolchainFingerprint(t.Context(), root)
	var missing *adapters.MissingTool
	if !errors.As(err, &missing) || !strings.HasPrefix(missing.Tool, "rust toolchain 1.33.7") || !strings.Contains(missing.Hint, "rustup toolchain install 1.33.7") {
		t.Errorf("got %#v", err)
	}
}

func TestMissingCargoIsNamed(t *testing.T) {
	a := cargo.New(snapshot.Options{Env: adapters.Environ{"PATH=/nowhere"}})
	_, err := a.ToolchainBasis(t.Context(), t.TempDir())
	want := &adapters.MissingTool{Tool: "cargo", Hint: "see https://www.rust-lang.org/tools/install"}
	if d := cmp.Diff(error(want), err); d != "" {
		t.Error(d)
	}
}

func executable(t *testing.T, path, script string) {
	t.Helper()
	adaptertest.Write(t, path, script)
	if err := os.Chmod(path, 0o755); err != nil {
		t.Fatal(err)
	}
}

// rustups makes a home with rustup's proxies and one toolchain.
func rustups(t *testing.T) (home string, env adapters.Environ) {
	t.Helper()
	home = t.TempDir()
	executable(t, home+"/bin/rustup", "#!/bin/sh\n")
	for _, name := range []string{"cargo", "rustc"} {
		if err := os.Symlink("rustup", filepath.Join(home, "bin", name)); err != nil {
			t.Fatal(err)
		}
		executable(t, filepath.Join(home, ".rustup/toolchains/stable/bin", name), "#!/bin/sh\n")
	}
	adaptertest.Write(t, home+"/.rustup/settings.toml", "default_toolchain = \"stable\"\n[overrides]\n")
	return home, adapters.NewEnviron([]string{"PATH=" + home + "/bin", "HOME=" + home})
}

func TestBasisChangesWithWhatRustupChoosesBy(t *testing.T) {
	home, env := rustups(t)
	root := adaptertest.Project(t, "-- a/b/x --\n-- c/x --\n")
	dir := root + "/a/b"
	seen := map[string]string{basis(t, env, dir): "the beginning"}
	step := func(what string, env adapters.Environ) {
		t.Helper()
		now := basis(t, env, dir)
		if was, ok := seen[now]; ok {
			t.Errorf("%s: the same basis as %s", what, was)
		}
		seen[now] = what
	}
	if basis(t, env, root+"/c") != basis(t, env, dir) {
		t.Error("two directories without a choice differ")
	}
	if err := os.Chtimes(home+"/.rustup/toolchains/stable/bin/rustc", time.Time{}, time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	step("rustup update", env)
	executable(t, home+"/.rustup/toolchains/1.80/bin/rustc", "")
	step("another toolchain installed", env)
	adaptertest.Write(t, home+"/.rustup/settings.toml", "default_toolchain = \"1.80\"\n[overrides]\n")
	step("rustup default", env)
	adaptertest.Write(t, root+"/rust-toolchain.toml", "[toolchain]\nchannel = \"1.80\"\n")
	step("a toolchain file above", env)
	adaptertest.Write(t, root+"/a/rust-toolchain", "stable\n")
	step("a nearer toolchain file", env)
	adaptertest.Write(t, home+"/.rustup/settings.toml", "[overrides]\n\""+dir+"\" = \"1.80\"\n")
	step("rustup override set", env)
	if basis(t, env, root+"/c") == basis(t, env, dir) {
		t.Error("the override is for one directory only")
	}
	step("RUSTUP_TOOLCHAIN", env.With(map[string]string{"RUSTUP_TOOLCHAIN": "stable"}))
	adaptertest.Write(t, home+"/.cargo/config.toml", "[build]\nrustflags = [\"-O\"]\n")
	step("the user's configuration", env)
}

func TestRegistriesAndAliasesOfTheUserChangeNothing(t *testing.T) {
	home, env := rustups(t)
	was := basis(t, env, "/")
	adaptertest.Write(t, home+"/.cargo/config.toml", "[registries.x]\nindex = \"y\"\n[alias]\na = \"b\"\n[term]\nquiet = true\n[net]\noffline = true\n")
	if basis(t, env, "/") != was {
		t.Error("the basis changed")
	}
}

func TestAPlainInstallationIsKnownByItsExecutables(t *testing.T) {
	bin := t.TempDir()
	executable(t, bin+"/cargo", "#!/bin/sh\necho info: syncing\necho cargo 1.70.0\n")
	executable(t, bin+"/rustc", "#!/bin/sh\necho a shim speaks\necho rustc 1.70.0\necho release: 1.70.0\n")
	env := adapters.NewEnviron([]string{"PATH=" + bin, "HOME=" + bin})
	got, err := cargo.New(snapshot.Options{Env: env}).ToolchainFingerprint(t.Context(), bin)
	if want := "rustc 1.70.0\nrelease: 1.70.0\ncargo 1.70.0\n"; err != nil || got != want {
		t.Errorf("fingerprint %q, %v", got, err)
	}
	was := basis(t, env, bin)
	executable(t, bin+"/rustc", "#!/bin/sh\necho rustc 1.71.0\n")
	if basis(t, env, bin) == was {
		t.Error("another rustc: the same basis")
	}
	executable(t, bin+"/rustc", "#!/bin/sh\necho broken >&2\nexit 3\n")
	_, err = cargo.New(snapshot.Options{Env: env}).ToolchainFingerprint(t.Context(), bin)
	if err == nil || !strings.HasPrefix(err.Error(), `"rustc -vV" for `) || !strings.HasSuffix(err.Error(), "exited with status 3: broken") {
		t.Errorf("got %v", err)
	}
}
