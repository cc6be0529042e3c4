package builtin_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/adaptertest"
	"github.com/bentobuild/bento/adapters/builtin"
	"github.com/bentobuild/bento/adapters/snapshot"
)

func byID(id string) adapters.Adapter {
	for _, a := range builtin.All(snapshot.Options{Env: adaptertest.Env()}) {
		if a.Manifest().AdapterID == id {
			return a
		}
	}
	return nil
}

// TestGlobOfItself: a workspace may name its own root among its members, by a glob or
// plainly. It is no member of itself and does not depend on itself, and the others are
// what they are.
func TestGlobOfItself(t *testing.T) {
	for id, archive := range map[string]string{
		"node-npm":  "-- package.json --\n{\"name\": \"root\", \"workspaces\": [\".\", \"**\", \"./\"]}\n-- package-lock.json --\n{}\n-- m/package.json --\n{\"name\": \"m\"}\n",
		"node-yarn": "-- package.json --\n{\"name\": \"root\", \"workspaces\": [\"**\", \".\"]}\n-- yarn.lock --\n# yarn lockfile v1\n-- m/package.json --\n{\"name\": \"m\"}\n",
		"node-pnpm": "-- package.json --\n{\"name\": \"root\"}\n-- pnpm-workspace.yaml --\npackages: ['.', '**']\n-- m/package.json --\n{\"name\": \"m\"}\n",
		"bun":       "-- package.json --\n{\"name\": \"root\", \"workspaces\": [\"./\", \"*\", \"../*\"]}\n-- bun.lock --\n{}\n-- m/package.json --\n{\"name\": \"m\"}\n",
		"deno":      "-- deno.json --\n{\"workspace\": [\".\", \"./*\", \"./m\"]}\n-- m/deno.json --\n{\"name\": \"@a/m\"}\n",
		"cargo":     "-- Cargo.toml --\n[workspace]\nmembers = [\".\", \"*\"]\n[package]\nname = \"root\"\n-- src/lib.rs --\n-- m/Cargo.toml --\n[package]\nname = \"m\"\n-- m/src/lib.rs --\n",
		"python-uv": "-- pyproject.toml --\n[project]\nname = \"root\"\n[tool.uv.workspace]\nmembers = [\".\", \"*\"]\n-- uv.lock --\n-- m/pyproject.toml --\n[project]\nname = \"m\"\n",
		"go":        "-- go.work --\ngo 1.22\nuse (\n.\n./m\n)\n-- go.mod --\nmodule r\n-- m/go.mod --\nmodule m\n",
		"maven":     "-- pom.xml --\n<project><groupId>g</groupId><artifactId>r</artifactId><version>1</version><modules><module>.</module><module>m</module></modules></project>\n-- m/pom.xml --\n<project><groupId>g</groupId><artifactId>m</artifactId><version>1</version></project>\n",
		"gradle":    "-- settings.gradle --\ninclude ':', 'm'\nincludeBuild '.'\n-- build.gradle --\n-- m/build.gradle --\n",
	} {
		t.Run(id, func(t *testing.T) {
			root := adaptertest.Project(t, "-- bento.toml --\n"+archive)
			a, m := byID(id), filepath.Join(root, "m")
			for _, dir := range []string{root, m} {
				if yes, err := a.Detect(t.Context(), dir); !yes || err != nil {
					t.Fatalf("%s: detected %v, %v", dir, yes, err)
				}
				links, err := adapters.Links(t.Context(), a, dir)
				if err != nil {
					t.Fatal(err)
				}
				for _, l := range links.Links {
					if l.Dir == dir || l.Package != "" && slices.Contains(links.Provides, l.Package) {
						t.Errorf("%s depends on itself: %+v", dir, l)
					}
				}
			}
			tasks, err := adapters.Tasks(t.Context(), a, root)
			if err != nil && !strings.Contains(err.Error(), "itself") {
				t.Fatal(err)
			}
			if err == nil && slices.Contains(tasks.Members, root) {
				t.Errorf("the root is its own member: %q", tasks.Members)
			}
			if _, err := adapters.Tasks(t.Context(), a, m); err != nil {
				t.Errorf("the member: %v", err)
			}
		})
	}
}

// TestDuplicateKeys: when a key occurs twice in a manifest or lockfile, the last wins as it
// does for tools that accept it. Where the tools refuse it, the error names the place.
func TestDuplicateKeys(t *testing.T) {
	for _, c := range []struct{ id, archive, task, refused string }{
		{id: "node-npm", archive: "-- package.json --\n{\"scripts\": {\"a\": \"x\"}, \"scripts\": {\"b\": \"y\"}}\n", task: "b"},
		{id: "deno", archive: "-- deno.json --\n{\"tasks\": {\"a\": \"x\"},\n\"tasks\": {\"b\": \"y\"}}\n", task: "b"},
		{id: "php", archive: "-- composer.json --\n{\"scripts\": {\"a\": \"x\"}, \"scripts\": {\"b\": \"y\"}}\n", task: "b"},
		{id: "cargo", archive: "-- Cargo.toml --\n[package]\nname = \"a\"\nname = \"b\"\n", refused: "Cargo.toml:3"},
		{id: "python", archive: "-- pyproject.toml --\n[project]\n[project]\n", refused: "pyproject.toml:2"},
		{id: "node-pnpm", archive: "-- package.json --\n{\"scripts\": {\"b\": \"y\"}}\n-- pnpm-workspace.yaml --\npackages: [x]\npackages: [y]\n", refused: "pnpm-workspace.yaml:2"},
	} {
		t.Run(c.id, func(t *testing.T) {
			root := adaptertest.Project(t, "-- bento.toml --\n"+c.archive)
			tasks, err := adapters.Tasks(t.Context(), byID(c.id), root)
			if c.refused != "" {
				if err == nil || !strings.Contains(err.Error(), c.refused) {
					t.Errorf("%+v, %v", tasks, err)
				}
				return
			}
			named := func(task adapters.Task) bool { return task.Name == c.task }
			if err != nil || !slices.ContainsFunc(tasks.Tasks, named) || len(tasks.Tasks) > 1 {
				t.Errorf("%+v, %v", tasks, err)
			}
		})
	}
	lock := "lockfileVersion: '9.0'\nimporters:\n  .: {}\npackages: {}\npackages: {}\n"
	root := adaptertest.Project(t, "-- bento.toml --\n-- package.json --\n{}\n-- pnpm-workspace.yaml --\npackages: [x]\n-- x/package.json --\n{}\n-- pnpm-lock.yaml --\n"+lock)
	if ans, err := adapters.LockDigest(t.Context(), byID("node-pnpm"), root); err != nil || ans.Digest != "" || !strings.Contains(ans.Whole, "pnpm-lock.yaml:5") {
		t.Errorf("a key twice in a lockfile: %+v, %v", ans, err)
	}
}
