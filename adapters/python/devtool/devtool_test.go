package devtool

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bentobuild/bento/adapters/adaptertest"
	"github.com/bentobuild/bento/adapters/python/pyproject"
	"github.com/bentobuild/bento/adapters/snapshot"
)

func TestPytestNeedsTests(t *testing.T) {
	many := ""
	for i := range 301 { // more than a search lists
		many += fmt.Sprintf("-- a/d%d/x.txt --\n", i)
	}
	for archive, want := range map[string]bool{
		"-- app.py --\n": false, "-- test_app.py --\n": true, "-- app_test.py --\n": true, "-- test_app.txt --\n": false, "-- tests/x.txt --\n": true,
		"-- src/app/view_test.py --\n": true, "-- src/app/tests/x.txt --\n": true, "-- src/app/view/test_deep.py --\n": false,
		"-- docs/test_x.py --\n": false, "-- .venv/lib/test_x.py --\n": false, "-- other/pyproject.toml --\n-- other/tests/x --\n": false,
		"-- pyproject.toml --\n[tool.pytest.ini_options]\n": true, "-- pytest.ini --\n[pytest]\n": true, "-- setup.cfg --\n[tool:pytest]\n": true,
		"-- tox.ini --\n[tox]\n": false, many: true,
	} {
		root := adaptertest.Project(t, archive)
		f := snapshot.NewFiles(root)
		p, err := pyproject.Read(f)
		if err != nil {
			t.Fatal(err)
		}
		tools := Find(f, p)
		tools[0].Declared = true
		if got := len(tools.Recipes("bin", "")) > 0; got != want {
			t.Errorf("%.60q: %v", strings.ReplaceAll(archive, "\n", " "), got)
		}
	}
}
