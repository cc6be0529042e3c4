package cargo

import (
	"encoding/json"
	"errors"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/adaptertest"
	"github.com/bentobuild/bento/adapters/snapshot"
)

// layouts are packages inside packages and workspaces.
const layouts = `-- ws/Cargo.toml --
[workspace]
members = ["a", "globbed/*", "deep/member"]
exclude = ["excluded", "globbed/not"]
-- ws/a/Cargo.toml --
[package]
name = "a"
version = "0.1.0"
[dependencies]
dep = { path = "../dep" }
-- ws/dep/Cargo.toml --
[package]
name = "dep"
version = "0.1.0"
-- ws/globbed/one/Cargo.toml --
[package]
name = "one"
version = "0.1.0"
-- ws/globbed/not/Cargo.toml --
[package]
name = "not"
version = "0.1.0"
-- ws/deep/member/Cargo.toml --
[package]
name = "member"
version = "0.1.0"
-- ws/excluded/Cargo.toml --
[package]
name = "excluded"
version = "0.1.0"
-- ws/excluded/below/Cargo.toml --
[package]
name = "below"
version = "0.1.0"
-- ws/refused/Cargo.toml --
[package]
name = "refused"
version = "0.1.0"
-- ws/a/inside/Cargo.toml --
[package]
name = "inside"
version = "0.1.0"
-- ws/own/Cargo.toml --
[package]
name = "own"
version = "0.1.0"
[workspace]
-- ws/pointed/Cargo.toml --
[package]
name = "pointed"
version = "0.1.0"
workspace = "../own"
-- ws/own/refused/Cargo.toml --
[package]
name = "own-refused"
version = "0.1.0"
-- plain/Cargo.toml --
[package]
name = "plain"
version = "0.1.0"
-- plain/inside/Cargo.toml --
[package]
name = "plain-inside"
version = "0.1.0"
`

// TestNestedIsCargos holds the adapter's decision against what cargo takes a directory for.
func TestNestedIsCargos(t *testing.T) {
	adaptertest.Need(t, "cargo")
	root := adaptertest.Project(t, layouts)
	for _, dir := range allCargo(t, root) {
		adaptertest.Write(t, filepath.Join(dir, "src", "lib.rs"), "")
	}
	a := New(snapshot.Options{Env: adaptertest.Env()})
	counts := make(map[bool]int)
	for _, dir := range allCargo(t, root) {
		answer, err := a.Nested(t.Context(), dir, root)
		if err != nil {
			t.Fatal(err)
		}
		want := isCargos(t, dir)
		counts[want]++
		if got := answer.Reason == ""; got != want {
			t.Errorf("%s: a dish: %t (%s), but cargo takes it for its own: %t", adaptertest.Relative(root, dir), got, answer.Why, want)
		}
	}
	if counts[true] < 8 || counts[false] < 4 {
		t.Errorf("the layouts show too little: %v", counts)
	}
}

// allCargo returns the directories with a package.
func allCargo(t *testing.T, root string) (dirs []string) {
	t.Helper()
	for line := range strings.Lines(layouts) {
		if name, ok := strings.CutPrefix(strings.TrimSuffix(strings.TrimSpace(line), " --"), "-- "); ok && strings.HasSuffix(name, "/Cargo.toml") && name != "ws/Cargo.toml" {
			dirs = append(dirs, filepath.Join(root, filepath.Dir(name)))
		}
	}
	return dirs
}

// isCargos reports whether cargo, started in dir, takes it for a root or a member.
func isCargos(t *testing.T, dir string) bool {
	t.Helper()
	cmd := exec.Command("cargo", "metadata", "--offline", "--no-deps", "--format-version=1")
	cmd.Dir = dir
	out, err := cmd.Output()
	if failed := (*exec.ExitError)(nil); errors.As(err, &failed) {
		if !strings.Contains(string(failed.Stderr), "workspace") {
			t.Fatalf("%s: %s", dir, failed.Stderr)
		}
		return false
	}
	if err != nil {
		t.Fatal(err)
	}
	var said struct {
		Root     string `json:"workspace_root"`
		Packages []struct {
			Manifest string `json:"manifest_path"`
		}
	}
	if err := json.Unmarshal(out, &said); err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(said.Packages, func(p struct {
		Manifest string `json:"manifest_path"`
	}) bool {
		return p.Manifest == filepath.Join(dir, "Cargo.toml")
	})
}

func TestNestedInSources(t *testing.T) {
	root := adaptertest.Project(t, `-- Cargo.toml --
[package]
name = "root"
[workspace]
members = ["tests/member"]
-- tests/member/Cargo.toml --
package.name = "member"
-- tests/ui/Cargo.toml --
package.name = "ui"
workspace = {}
-- tests/case/in/Cargo.toml --
[workspace]
members = ["primary"]
-- tests/case/in/primary/Cargo.toml --
package.name = "primary"
-- benches/b/Cargo.toml --
package.name = "b"
workspace = {}
-- fuzz/Cargo.toml --
package.name = "fuzz"
workspace = {}
-- other/tests/x/Cargo.toml --
package.name = "x"
workspace = {}
`)
	a := New(snapshot.Options{Env: adaptertest.Env()})
	for dir, want := range map[string]adapters.Reason{
		"tests/member": "", "tests/ui": adapters.InSources, "tests/case/in": adapters.InSources, "tests/case/in/primary": adapters.InSources, "benches/b": adapters.InSources, "fuzz": adapters.InSources,
		"other/tests/x": "", // not those of a package
	} {
		if answer, err := a.Nested(t.Context(), filepath.Join(root, dir), root); answer.Reason != want || err != nil || len(answer.Reads) == 0 {
			t.Errorf("%s: %+v, %v", dir, answer, err)
		}
	}
}
