package uv

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/adaptertest"
	"github.com/bentobuild/bento/adapters/snapshot"
)

// TestBasis: workspaces share the interpreter that uv chooses for them, unless a file or a setting of
// one of them may lead to another.
func TestBasis(t *testing.T) {
	bin := t.TempDir()
	adaptertest.Write(t, filepath.Join(bin, "uv"), "")
	if err := os.Chmod(filepath.Join(bin, "uv"), 0o755); err != nil {
		t.Fatal(err)
	}
	env := adapters.NewEnviron([]string{"PATH=" + bin, "HOME=" + t.TempDir()})
	basis := func(files string) string {
		t.Helper()
		root := adaptertest.Project(t, files)
		basis, err := New(snapshot.Options{Env: env}).ToolchainBasis(t.Context(), root)
		if err != nil {
			t.Fatal(err)
		}
		return basis
	}
	const project = "-- pyproject.toml --\n[project]\nname = \"a\"\nrequires-python = \">=3.12\"\n"
	same := basis(project)
	if other := basis(project + "[tool.uv]\npackage = false\n"); other != same {
		t.Errorf("another workspace has another basis:\n%s\n%s", same, other)
	}
	for what, files := range map[string]string{
		"requires":    "-- pyproject.toml --\n[project]\nname = \"a\"\nrequires-python = \">=3.13\"\n",
		"preference":  project + "[tool.uv]\npython-preference = \"only-system\"\n",
		"version":     project + "-- .python-version --\n3.12\n",
		"versions":    project + "-- .python-versions --\n3.12\n",
		"uv.toml":     project + "-- uv.toml --\n",
		"asdf":        project + "-- .tool-versions --\npython 3.12.1\n",
		"of a member": project + "[tool.uv.workspace]\nmembers = [\"b\"]\n-- b/pyproject.toml --\n[project]\nname = \"b\"\nrequires-python = \"<3.13\"\n",
	} {
		if basis(files) == same {
			t.Errorf("%s: the same basis", what)
		}
	}
}
