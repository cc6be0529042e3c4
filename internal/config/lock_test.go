package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bentobuild/bento/internal/dish"
)

// TestLock: the lock file pins plugins that bento.toml does not pin, and Unlocked removes these pins.
func TestLock(t *testing.T) {
	root := t.TempDir()
	a, b := strings.Repeat("a", 64), strings.Repeat("b", 64)
	for name, text := range map[string]string{
		dish.WorkspaceFile: "[plugins.zig]\nsha256 = \"" + a + "\"\n[plugins.elm]\npass_env = [\"ELM_HOME\"]\n",
		LockFile:           "[sha256]\nzig = \"" + b + "\"\nelm = \"" + strings.ToUpper(b) + "\"\nroc = \"" + b + "\"\nBAD = \"" + b + "\"\nnim = \"beef\"\n",
	} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	w, problems := Load(root, "")
	free := w.Plugins.Unlocked()
	for id, want := range map[string][2]string{"zig": {a, a}, "elm": {b, ""}, "roc": {b, ""}} {
		if got := [2]string{w.Plugins.ByID[id].SHA256.Text, free.ByID[id].SHA256.Text}; got != want {
			t.Errorf("%s: got %q, want %q", id, got, want)
		}
	}
	if len(free.ByID["elm"].PassEnv) != 1 {
		t.Errorf("the rest of a plugin's table is lost: %+v", free.ByID["elm"])
	}
	if len(problems) != 2 || problems[0].Line != 5 || problems[1].Line != 6 {
		t.Errorf("problems: %v", problems)
	}
}
