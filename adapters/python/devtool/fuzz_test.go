package devtool

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/bentobuild/bento/adapters/adaptertest"
	"github.com/bentobuild/bento/adapters/python/pyproject"
	"github.com/bentobuild/bento/adapters/snapshot"
)

// FuzzFind reads the same bytes as each file that configures a tool.
func FuzzFind(f *testing.F) {
	for _, seed := range []string{
		"[flake8]\nextend-exclude = a, b\n c\n", "[mypy]\nfiles=x\n", "[pytest]\ntestpaths", "[tool:pytest]\n", "[flake8]\nextend-exclude='$(x)\n", "\ufeff[mypy]\r\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, name := range []string{"setup.cfg", "tox.ini", ".flake8", "mypy.ini", "pytest.ini"} {
			dir := t.TempDir()
			adaptertest.Write(t, filepath.Join(dir, name), string(data))
			tools := Find(snapshot.NewFiles(dir), &pyproject.Project{})
			for _, all := range []bool{false, true} {
				for i := range tools {
					tools[i].Declared = all
				}
				for _, r := range tools.Recipes("bin", ".venv") {
					if strings.ContainsAny(r.Run, "\n\r") || strings.Count(strings.ReplaceAll(r.Run, `\'`, ""), "'")%2 != 0 {
						t.Fatalf("%s: %+v", name, r)
					}
				}
			}
		}
	})
}
