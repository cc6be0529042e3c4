package devtool

import (
	"testing"

	"github.com/bentobuild/bento/adapters/adaptertest"
	"github.com/bentobuild/bento/adapters/python/pyproject"
	"github.com/bentobuild/bento/adapters/snapshot"
)

// TestALinterNeedsAVersion: one that is only configured has a recipe where the repository names its
// version, and is installed in that version.
func TestALinterNeedsAVersion(t *testing.T) {
	const config = "-- ruff.toml --\nline-length = 80\n"
	const hooks = "-- .pre-commit-config.yaml --\nrepos:\n- repo: https://github.com/psf/black\n  rev: 24.1.0\n" +
		"- repo: https://github.com/astral-sh/ruff-pre-commit\n  rev: \"v0.4.10\" # newest\n  hooks: [{id: ruff}]\n"
	for _, tt := range []struct{ name, archive, want string }{
		{"nobody names a version", config, ""},
		{"its own configuration", "-- ruff.toml --\n-- pyproject.toml --\n[tool.ruff]\nrequired-version = '0.5.0'\n", "==0.5.0"},
		{"pre-commit", config + hooks, "==0.4.10"},
		{"pre-commit of another tool", config + "-- .pre-commit-config.yaml --\nrepos:\n- repo: https://github.com/psf/black\n  rev: 24.1.0\n", ""},
		{"a branch", config + "-- .pre-commit-config.yaml --\n- repo: https://github.com/astral-sh/ruff-pre-commit\n  rev: main\n", ""},
	} {
		f := snapshot.NewFiles(adaptertest.Project(t, tt.archive))
		p, err := pyproject.Read(f)
		if err != nil {
			t.Fatal(err)
		}
		if got := Find(f, p).named("ruff"); got.Spec != tt.want || got.Alone != (tt.want != "") {
			t.Errorf("%s: %+v", tt.name, got)
		}
	}
}
