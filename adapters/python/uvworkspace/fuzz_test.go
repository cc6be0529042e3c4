package uvworkspace_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bentobuild/bento/adapters/adaptertest"
	"github.com/bentobuild/bento/adapters/python/uvworkspace"
	"github.com/bentobuild/bento/adapters/snapshot"
)

// FuzzRead reads a workspace, with the same member below whatever globs it has.
func FuzzRead(f *testing.F) {
	f.Add("[tool.uv.workspace]\nmembers = [\"*\"]\n[project]\nname = \"a\"\n", "[project]\nname = \"b\"\n[dependency-groups]\ndev = [\"pytest\"]\n")
	f.Add("tool.uv.workspace = {members = [\"../*\", \"**\", \"\", \".\", \"[\"], exclude = [\"{a,b}\"]}", "[tool.uv]\nmanaged = false")
	f.Add("[tool.uv.workspace]\nmembers = 1\n[tool.uv]\ndefault-groups = \"all\"\n", "x =")
	f.Fuzz(func(t *testing.T, root, member string) {
		dir := t.TempDir()
		below := filepath.Join(dir, "packages", "b")
		adaptertest.Write(t, filepath.Join(dir, "bento.toml"), "")
		adaptertest.Write(t, filepath.Join(dir, "pyproject.toml"), root)
		adaptertest.Write(t, filepath.Join(below, "pyproject.toml"), member)
		w, err := uvworkspace.Read(snapshot.NewFiles(dir))
		if err != nil {
			return
		}
		sorted := slices.IsSortedFunc(w.Members, func(a, b uvworkspace.Member) int { return strings.Compare(a.Dir, b.Dir) })
		if !sorted || w.Root == nil || w.Dir != dir {
			t.Fatalf("%+v", w)
		}
		for _, m := range w.Members {
			if found, ok := w.Find(m.Dir); !ok || found.Dir != m.Dir || !m.HasProject {
				t.Fatalf("%+v", m)
			}
		}
		w.Asked()
		if m, ok := w.Find(below); ok && uvworkspace.IsWorkspace(w.Root.Project) && !uvworkspace.IsWorkspace(m.Project) {
			if got := uvworkspace.RootOf(snapshot.NewFiles(below), m.Project); got != dir {
				t.Fatalf("a member goes by the root %q", got)
			}
		}
	})
}
