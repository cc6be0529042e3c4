package kit

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/config"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/workspace"
)

// TestToolIdentity: the identity of a tool is computed once for all of its tasks, and changes with a script among its
// arguments. A change after the computation is noticed.
func TestToolIdentity(t *testing.T) {
	root := t.TempDir()
	script := filepath.Join(root, "fmt.sh")
	write := func(path, text string) {
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(root, dish.WorkspaceFile), "[tools.fmt]\ncommand = [\"sh\", \"fmt.sh\"]\n")
	write(script, "one")
	find := func() FoundTool {
		cfg, problems := config.Load(root, "")
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		h := &workspace.Host{Environ: adapters.NewEnviron(os.Environ())}
		tools, _ := FindTools(h, cfg, nil, ToolOptions{})
		t.Cleanup(tools.Close)
		return tools.List[0]
	}
	f := find()
	first, err := f.Tool.Identity()
	if err != nil || f.Tool.Changed() || len(f.Tool.Files) != 1 || f.Tool.Files[0] != "fmt.sh" {
		t.Fatalf("%+v, %v", f.Tool, err)
	}
	write(script, "three")
	if again, _ := f.Tool.Identity(); again.Digest != first.Digest {
		t.Error("the identity was made a second time")
	}
	if !f.Tool.Changed() {
		t.Error("the change of the script was not noticed")
	}
	if next, _ := find().Tool.Identity(); next.Digest == first.Digest {
		t.Error("the digest does not depend on the script")
	}
	if err := os.Remove(script); err != nil {
		t.Fatal(err)
	}
	if left := find(); len(left.Tool.Files) != 0 {
		t.Errorf("a missing script is a file of the tool: %v", left.Tool.Files)
	}
}
