package golang

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/adaptertest"
	"github.com/bentobuild/bento/adapters/snapshot"
)

const modules = `-- go.mod --
module example.com/root

go 1.21
-- go.work --
go 1.21

use ./used
-- a.go --
package root
-- used/go.mod --
module example.com/used

go 1.21
-- used/a.go --
package used
-- loose/go.mod --
module example.com/loose

go 1.21
-- loose/a.go --
package loose
-- used/deep/er/go.mod --
module example.com/deeper

go 1.21
-- used/deep/er/a.go --
package deeper
-- _x/in/go.mod --
module example.com/x

go 1.21
-- .y/go.mod --
module example.com/y

go 1.21
`

// TestNestedIsGos holds that each nested module is one for go in the environment of its
// tasks, and that the module around it ends there.
func TestNestedIsGos(t *testing.T) {
	adaptertest.Need(t, "go")
	root := adaptertest.Project(t, modules)
	a := New(snapshot.Options{Env: adaptertest.Env()})
	for dir, module := range map[string]string{"used": "example.com/used", "loose": "example.com/loose", "used/deep/er": "example.com/deeper"} {
		at := filepath.Join(root, dir)
		answer, err := a.Nested(t.Context(), at, root)
		if answer.Reason != "" || err != nil || len(answer.Reads) == 0 {
			t.Errorf("%s: %+v, %v", dir, answer, err)
		}
		build := adaptertest.Task(t, a, at, "build")
		if (build.Env["GOWORK"] == "off") != (dir != "used") {
			t.Errorf("%s: %v", dir, build.Env)
		}
		for args, want := range map[string]string{"list -m": module, "list ./...": module} {
			cmd := exec.Command("go", strings.Fields(args)...)
			cmd.Dir, cmd.Env = at, adaptertest.TaskEnv(a, adaptertest.Env()).With(build.Env)
			if out, err := cmd.CombinedOutput(); strings.TrimSpace(string(out)) != want || err != nil {
				t.Errorf("%s: go %s: %s, %v; want %s", dir, args, out, err, want)
			}
		}
	}
	for _, dir := range []string{"_x/in", ".y"} {
		if answer, err := a.Nested(t.Context(), filepath.Join(root, dir), root); answer.Reason != adapters.PassedOver || err != nil {
			t.Errorf("%s: %+v, %v", dir, answer, err)
		}
	}
	// The name of a directory above the outer module does not count.
	if answer, err := a.Nested(t.Context(), filepath.Join(root, "_x/in"), filepath.Join(root, "_x")); answer.Reason != "" || err != nil {
		t.Errorf("%+v, %v", answer, err)
	}
}
