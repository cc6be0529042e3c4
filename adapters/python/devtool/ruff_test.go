package devtool

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bentobuild/bento/adapters/adaptertest"
)

// Whatever the settings of ruff say, the recipe reports a finding and leaves the sources as they are.
func TestRuffRewritesNothing(t *testing.T) {
	adaptertest.Need(t, "ruff")
	path, err := exec.LookPath("ruff")
	if err != nil {
		t.Fatal(err)
	}
	lint := Tools{{Name: "ruff", Declared: true}}.lint(filepath.Dir(path), "")
	for _, settings := range []string{"", "fix = true", "fix-only = true", "fix = true\nfix-only = true\nunsafe-fixes = true"} {
		dir := adaptertest.Project(t, "-- a.py --\nimport os\n-- ruff.toml --\n"+settings+"\n")
		c := exec.Command("sh", "-c", lint+" --no-cache")
		c.Dir = dir
		out, err := c.CombinedOutput()
		source, _ := os.ReadFile(filepath.Join(dir, "a.py"))
		if err == nil || !strings.Contains(string(out), "F401") || string(source) != "import os\n" {
			t.Errorf("%q: %v, the source is now %q: %s", settings, err, source, out)
		}
	}
}
