package config

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/growth"
)

// The cost of loading n entries grows at most like n log n, even if the entries have errors.
func TestLoadingGrowsWithTheFile(t *testing.T) {
	file := func(name string, read func(root string) any) func([]byte) any {
		root := t.TempDir()
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		return func(data []byte) any {
			if err := os.WriteFile(path, data, 0o644); err != nil {
				t.Fatal(err)
			}
			return read(root)
		}
	}
	workspace := func(root string) any { w, problems := Load(root, ""); return []any{w, problems} }
	dishes := file("d/dish.toml", func(root string) any {
		w, problems := Load(root, "")
		dishes, more := w.LoadDishes([]Found{{Dir: "d"}}, nil)
		return []any{dishes, problems, more}
	})
	own := file("own.toml", func(root string) any {
		w, problems := Load(root, filepath.Join(root, "own.toml"))
		return []any{w, problems}
	})
	bento, boxes, locks := file(dish.WorkspaceFile, workspace), file("bentos/x.toml", workspace), file(LockFile, workspace)
	list := growth.List
	growth.Check(t, map[string]growth.Reader{
		"bento.toml, exclude":      growth.Of(bento, list("[workspace]\nexclude = [", "\"p%d/**\"", ",", "]\n")),
		"bento.toml, pins":         growth.Of(bento, list("[toolchain]\n", "t%d = \"1\"\n", "", "")),
		"bento.toml, plugins":      growth.Of(bento, list("", "[plugins.p%d]\n", "", "")),
		"bento.toml, unknown keys": growth.Of(bento, list("", "k%d = 1\n", "", "")),
		"box, dishes":              growth.Of(boxes, list("dishes = [", "\"d%d\"", ",", "]\n")),
		"plugins.lock":             growth.Of(locks, list("[sha256]\n", "p%d = \"00\"\n", "", "")),
		"own file":                 growth.Of(own, list("", "[plugins.p%d]\n", "", "")),
		"dish.toml, inputs":        growth.Of(dishes, list("inputs = [", "\"s%d/**\"", ",", "]\n")),
		"dish.toml, outputs":       growth.Of(dishes, list("outputs = [", "\"s%d/**\"", ",", "]\n")),
		"dish.toml, braces":        growth.Of(dishes, list("inputs = [\"{", "a%d", ",", "}\"]\n")),
		"dish.toml, links":         growth.Of(dishes, list("depends_on = [", "\"d%d\"", ",", "]\n")),
		"dish.toml, same links":    growth.Of(dishes, list("depends_on = [", "\"d\"", ",", "]\n")),
		"dish.toml, tasks":         growth.Of(dishes, list("", "[tasks.t%d]\nrun = \"x\"\ndepends_on = [\"t%d\"]\n", "", "")),
		"dish.toml, wrong tasks":   growth.Of(dishes, list("", "[tasks.t%d]\nrun = 1\nrum = 2\ninputs = [\"[\"]\n", "", "")),
		"dish.toml, env":           growth.Of(dishes, list("[tasks.t]\nrun = \"x\"\n[tasks.t.env]\n", "V%d = \"x\"\n", "", "")),
		"dish.toml, wrong env":     growth.Of(dishes, list("[tasks.t]\nrun = \"x\"\nenv = [", "\"A=%d\"", ",", "]\n")),
		"dish.toml, pass_env":      growth.Of(dishes, list("[tasks.t]\nrun = \"x\"\npass_env = [", "\"V%d*\"", ",", "]\n")),
		"dish.toml, needs":         growth.Of(dishes, list("[tasks.t]\nrun = \"x\"\ndepends_on = [", "\"t%d\"", ",", "]\n")),
		"dish.toml, argv":          growth.Of(dishes, list("[tasks.t]\nrun = [", "\"a%d\"", ",", "]\n")),
	})
}
