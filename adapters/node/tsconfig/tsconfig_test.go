package tsconfig

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/snapshot"
)

func TestRead(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"tsconfig.base.json": `{ // shared
			"extends": ["./configs/strict", "@tsconfig/node20/tsconfig.json"],
			"compilerOptions": {"outDir": "./rootout", "declarationDir": "${configDir}/types"}, }`,
		"configs/strict.json": `{"extends": "../tsconfig.base.json"}`,
		"app/tsconfig.json": `{
			"extends": "../tsconfig.base.json",
			"compilerOptions": {"outDir": "out/js", "rootDir": "src", "tsBuildInfoFile": ".info"},
			"references": [
				{"path": "./tsconfig.node.json"},
				{"path": "../lib"}, {"path": "../ui/tsconfig.build.json"}, {"path": "./inner"}
			]}`,
		"app/tsconfig.node.json":  `{"compilerOptions": {"outDir": "${configDir}/node", "tsBuildInfoFile": "node_modules/.tmp/x"}}`,
		"app/tsconfig.build.json": `{"compilerOptions": {"outDir": "src"}, "include": ["src/**/*.ts"]}`,
		"app/jsconfig.json":       `{ broken`,
	} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	f := snapshot.NewFiles(filepath.Join(root, "app"))
	got := Read(f)
	in := func(name string) string { return filepath.Join(root, name) }
	want := Config{
		Above:   []string{in("tsconfig.base.json"), in("configs/strict.json")},
		Outputs: []string{"out/js/**", ".info/**", "types/**", "node/**"},
		Links: []adapters.Link{
			{Dir: in("lib"), File: in("app/tsconfig.json"), Line: 6, Loose: true},
			{Dir: in("ui"), File: in("app/tsconfig.json"), Line: 6, Loose: true},
		},
	}
	slices.Sort(got.Outputs)
	slices.Sort(want.Outputs)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, name := range []string{"app/tsconfig.json", "configs/strict.json", "app/jsconfig.json"} {
		if f.Reads()[in(name)].Kind == adapters.Unseen {
			t.Errorf("%s is not among the reads", name)
		}
	}
}

func TestReadIsBounded(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "tsconfig.json"), []byte(`{"extends": "./tsconfig.json", "references": [{"path": "."}, {"path": 3}, 4]}`), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := Read(snapshot.NewFiles(dir)); len(got.Above)+len(got.Links)+len(got.Outputs) != 0 {
		t.Errorf("got %+v", got)
	}
}
