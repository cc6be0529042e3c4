package cargo_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/adaptertest"
	"github.com/bentobuild/bento/adapters/cargo"
	"github.com/bentobuild/bento/adapters/snapshot"
)

// TestPortableMembers: a package can be built elsewhere if it depends on all others of its workspace, whose manifests cargo reads.
func TestPortableMembers(t *testing.T) {
	t.Parallel()
	root := adaptertest.Project(t, `
-- Cargo.toml --
[workspace]
members = ["*"]
-- lib/Cargo.toml --
[package]
name = "lib"
version = "1.0.0"
-- lib/src/lib.rs --
-- mid/Cargo.toml --
[package]
name = "mid"
version = "1.0.0"
[dependencies]
lib = { path = "../lib" }
-- mid/src/lib.rs --
-- app/Cargo.toml --
[package]
name = "app"
version = "1.0.0"
[dependencies]
mid = { path = "../mid" }
-- app/src/main.rs --
-- tests/Cargo.toml --
[package]
name = "tests"
version = "1.0.0"
[dependencies]
app = { path = "../app" }
-- tests/src/main.rs --
`)
	a := cargo.New(snapshot.Options{Env: adaptertest.Env("CARGO_HOME=" + t.TempDir())})
	for dish, want := range map[string]string{"tests": "", "app": "tests is no dependency", "lib": "app is no dependency"} {
		p, err := a.Portable(filepath.Join(root, dish), adapters.Scope{Dir: root})
		if err != nil || !strings.HasSuffix(p.Stays, want) || want == "" && p.Stays != "" {
			t.Errorf("%s: %q, %v; want %q", dish, p.Stays, err, want)
		}
	}
}
