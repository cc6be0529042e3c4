package cargotoml

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/bentobuild/bento/diagnostics"
)

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"[package]\nname = \"a\"\nworkspace = \"..\"\n[dependencies]\nb = { path = \"../b\" }\nc.workspace = true\n",
		"[workspace]\nmembers = [\"*\", \"a/**\"]\nexclude = [\"x\"]\n[workspace.dependencies]\nd = { path = \"d\" }\n",
		"[target.'cfg(unix)'.dev-dependencies.x]\npath = \"/\"\n[patch.crates-io]\ny = { path = \"y\" }\n[[bin]]\nname = \"b\"\npath = \"../m.rs\"\n",
		"package = 1\nworkspace = []\ndependencies = \"x\"\nlints = {}\nbin = {}\npatch = [1]", "\ufeff[package]", "[a]\n[a]",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := Parse("/w/Cargo.toml", data)
		if err != nil {
			mustHavePlaces(t, err)
			return
		}
		for _, d := range append(m.Dependencies, m.Patches...) {
			if dir := m.DirOf(d); dir != "" && !filepath.IsAbs(dir) || d.Line < 1 {
				t.Errorf("dependency %+v", d)
			}
		}
		if m.Workspace != nil {
			m.Excludes("/w/x")
		}
	})
}

func FuzzParseConfig(f *testing.F) {
	f.Add([]byte("paths = [\"x\"]\n[alias]\na = \"b c\"\nd = [\"e\", \"f\"]\n[build]\nrustflags = []\n"))
	f.Add([]byte("alias = 1\npaths = {}\n[term]\ncolor = 1979-05-27\n[env]\nx = nan\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := ParseConfig("/w/.cargo/config.toml", data)
		if err != nil {
			mustHavePlaces(t, err)
			return
		}
		again, err := ParseConfig("/w/.cargo/config.toml", data)
		if err != nil || again.Steers != c.Steers {
			t.Errorf("a second look: %v, %s and %s", err, again.Steers, c.Steers)
		}
	})
}

func mustHavePlaces(t *testing.T, err error) {
	t.Helper()
	var p diagnostics.Problems
	if !errors.As(err, &p) || len(p) == 0 {
		t.Fatalf("%v: no problems", err)
	}
}
