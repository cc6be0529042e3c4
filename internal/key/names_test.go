package key

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/bentobuild/bento/internal/plan"
)

// The key of a task with observed inputs changes with the names of its inputs and of the sources of linked dishes, and with
// the content of those files alone that bento itself reads for the task.
func TestKeyOfObservedInputs(t *testing.T) {
	for name, c := range map[string]struct {
		change  func(w *world) error
		changes bool
	}{
		"content":                     {writes("app/a", "b"), false},
		"content of a linked dish":    {writes("lib/a", "b"), false},
		"a new file":                  {writes("app/b", ""), true},
		"a new file of a linked dish": {writes("lib/b", ""), true},
		"a file less":                 {func(w *world) error { return os.Remove(w.at("app/a")) }, true},
		"another name":                {func(w *world) error { return os.Rename(w.at("app/a"), w.at("app/b")) }, true},
		"mode":                        {func(w *world) error { return os.Chmod(w.at("app/a"), 0o755) }, true},
		"where a link leads": {func(w *world) error {
			return os.Remove(w.at("app/link"))
		}, true},
		"a file in place of a link":   {func(w *world) error { _ = os.Remove(w.at("app/link")); return writes("app/link", "a")(w) }, true},
		"content of a file of .env":   {writes("app/vars.env", "A=2\n"), true},
		"a file elsewhere":            {writes("other", ""), false},
		"content of what it excludes": {writes("app/not", "b"), false},
	} {
		t.Run(name, func(t *testing.T) {
			root, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			w := &world{root: root}
			w.write(t, "bento.toml", "[defaults]\ninputs = \"observed\"\n")
			w.write(t, "lib/dish.toml", "language = \"none\"\n")
			w.write(t, "lib/a", "a")
			w.write(t, "app/dish.toml", "language = \"none\"\ndepends_on = [\"lib\"]\ninputs = [\"**\", \"!not\"]\n[tasks.build]\nrun = \"true\"\nenv_files = [\"vars.env\"]\n")
			w.write(t, "app/a", "a")
			w.write(t, "app/not", "a")
			w.write(t, "app/vars.env", "A=1\n")
			if err := os.Symlink("a", w.at("app/link")); err != nil {
				t.Fatal(err)
			}
			before := w.keys(t, plan.Request{})["app"]
			if err := c.change(w); err != nil {
				t.Fatal(err)
			}
			if changed := w.keys(t, plan.Request{})["app"] != before; changed != c.changes {
				t.Errorf("want another key: %t, got: %t", c.changes, changed)
			}
		})
	}
}

func (w *world) at(p string) string { return filepath.Join(w.root, p) }

func writes(p, content string) func(*world) error {
	return func(w *world) error { return os.WriteFile(w.at(p), []byte(content), 0o644) }
}
