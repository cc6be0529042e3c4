package discovery

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/builtin"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/internal/config"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/state"
	"github.com/bentobuild/bento/internal/tree"
)

// manifests are the files that a directory may have, each in several states.
var manifests = map[string][]string{
	"package.json": {
		`{"name":"a","scripts":{"build":"x","test":"y"},"workspaces":["a","b"]}`, `{"name":"b","dependencies":{"a":"*"}}`,
		`{"name":"b","packageManager":"pnpm@9.0.0","scripts":{"lint":"z"}}`, `{"name":"c","engines":{"node":">=18"}}`, `nonsense`, `{}`,
	},
	"package-lock.json":   {`{"lockfileVersion":3,"packages":{}}`, `{}`},
	"pnpm-lock.yaml":      {"lockfileVersion: '9.0'\n"},
	"yarn.lock":           {"# yarn lockfile v1\n"},
	"bun.lock":            {"{}"},
	"pnpm-workspace.yaml": {"packages: [a]\n"},
	".nvmrc":              {"20\n", "lts/iron\n", ""},
	".tool-versions":      {"nodejs 20.1.0\ngolang 1.22.0\n", ""},
	"tsconfig.json":       {`{"extends":"../tsconfig.json"}`, `{}`},
	"go.mod":              {"module a\n\ngo 1.22\n", "module b\n\ngo 1.21\nrequire a v0.0.0\nreplace a => ../a\n", "nonsense ("},
	"go.work":             {"go 1.22\nuse ./a\nuse ./b\n", "go 1.22\n"},
	"main.go":             {"package main\nfunc main() {}\n", "package a\n"},
	"Cargo.toml":          {"[package]\nname = \"a\"\nversion = \"0.1.0\"\n", "[workspace]\nmembers = [\"a\", \"b\"]\n", "[package]\nname = \"b\"\nversion = \"0.1.0\"\n[dependencies]\na = { path = \"../a\" }\n"},
	"pyproject.toml":      {"[project]\nname = \"a\"\nversion = \"1\"\n", "[project]\nname = \"b\"\nversion = \"1\"\ndependencies = [\"pytest\"]\n[build-system]\nrequires = [\"hatchling\"]\n", "["},
	"uv.lock":             {"version = 1\n"},
	"requirements.txt":    {"pytest\n", "x\n"},
	"pom.xml":             {"<project><groupId>g</groupId><artifactId>a</artifactId><version>1</version></project>"},
	"composer.json":       {`{"name":"v/a","scripts":{"test":"phpunit"}}`},
	"Gemfile":             {"source 'https://example.invalid'\n"},
	"deno.json":           {`{"tasks":{"build":"x"}}`},
	"dish.toml":           {"name = \"x\"\n", "[toolchain]\nnode = \"22\"\n", "language = \"none\"\n[tasks.build]\nrun = \"x\"\n", "language = \"go\"\n"},
	".gitignore":          {"package-lock.json\n", "yarn.lock\nb/\n", ""},
}

// TestMemoryOfAnswersChangesNothing checks that the dishes are the same with and without saved answers,
// after any edits. The answers are written only after the edits.
func TestMemoryOfAnswersChangesNothing(t *testing.T) {
	base := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		made, err := os.MkdirTemp(base, "")
		if err != nil {
			rt.Fatal(err)
		}
		root, err := filepath.EvalSymlinks(made)
		if err != nil {
			rt.Fatal(err)
		}
		defer os.RemoveAll(root)
		_ = os.MkdirAll(filepath.Join(root, ".bento"), 0o755)
		_ = os.WriteFile(filepath.Join(root, "bento.toml"), []byte("[workspace]\ndiscover = true\n"), 0o644)
		env := adapters.NewEnviron([]string{"HOME=" + root + "/home", "PATH=/nowhere"})
		for range 6 {
			editManifest(rt, root)
		}
		for range rapid.IntRange(1, 6).Draw(rt, "rounds") {
			write := compareAnswers(rt, root, env)
			for range rapid.IntRange(0, 3).Draw(rt, "edits") {
				editManifest(rt, root)
			}
			write()
			if rapid.IntRange(0, 9).Draw(rt, "other environment") == 0 {
				env = env.With(map[string]string{"YARN_NODE_LINKER": rapid.SampledFrom([]string{"pnp", "node-modules"}).Draw(rt, "linker")})
			}
		}
	})
}

func editManifest(rt *rapid.T, root string) {
	names := sortedNames()
	dir := filepath.Join(root, rapid.SampledFrom([]string{".", "a", "b", "a/c"}).Draw(rt, "dir"))
	path := filepath.Join(dir, rapid.SampledFrom(names).Draw(rt, "name"))
	_ = os.MkdirAll(dir, 0o755)
	switch rapid.IntRange(0, 9).Draw(rt, "edit") {
	case 0, 1:
		_ = os.RemoveAll(path)
	case 2:
		if dir != root {
			_ = os.RemoveAll(dir)
		}
	case 3:
		_ = os.Rename(path, filepath.Join(dir, rapid.SampledFrom(names).Draw(rt, "to")))
	case 4:
		_ = os.RemoveAll(path)
		_ = os.Symlink("../"+filepath.Base(path), path)
	case 5:
		_ = os.MkdirAll(filepath.Join(dir, rapid.SampledFrom([]string{"node_modules", ".venv", "src", "vendor", "dist"}).Draw(rt, "made")), 0o755)
	default:
		_ = os.WriteFile(path, []byte(rapid.SampledFrom(manifests[filepath.Base(path)]).Draw(rt, "text")), 0o644)
	}
}

func sortedNames() []string {
	var names []string
	for name := range manifests {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// compareAnswers compares the dishes with and without a memory, and returns a function that writes the
// answers.
func compareAnswers(rt *rapid.T, root string, env adapters.Environ) (write func()) {
	write = func() {}
	find := func(memory bool) (*dish.Workspace, any) {
		st := state.Open(root)
		files, err := tree.Walk(context.Background(), root, &tree.Options{State: st})
		if err != nil {
			rt.Fatal(err)
		}
		cfg, problems := config.Load(root, "")
		shown := new(snapshot.Snapshot)
		o := Options{Tree: files, Config: cfg, Registry: adapters.NewRegistry(builtin.All(snapshot.Options{Env: env, Snapshot: shown})...), Snapshot: shown}
		if memory {
			o.Saved, o.Basis = st.OpenParts("answers", 1), func() string { return strings.Join(env, "\x00") }
			o.Later = func(do func()) { write = do }
		}
		defer files.Close()
		ws, more := Find(context.Background(), o)
		if err := files.Index().Save(); err != nil {
			rt.Fatal(err)
		}
		return ws, append(problems, more...)
	}
	plain, problems := find(false)
	kept, keptProblems := find(true)
	if diff := cmp.Diff(problems, keptProblems, cmpopts.EquateEmpty()); diff != "" {
		rt.Fatalf("problems without a memory, and with it:\n%s", diff)
	}
	if diff := cmp.Diff(described(plain), described(kept), cmpopts.EquateEmpty()); diff != "" {
		rt.Fatalf("dishes without a memory, and with it:\n%s", diff)
	}
	return write
}

// TestAnswersAreWrittenLater: with Later, Find leaves the write of the answers to its caller. Without it
// Find writes them. The written answers are those for the files that Find saw, even after a later edit.
func TestAnswersAreWrittenLater(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	text := func(name, data string) {
		if err := os.WriteFile(filepath.Join(root, name), []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text("bento.toml", "")
	text("go.mod", "module a\n\ngo 1.22\n")
	st := state.Open(root)
	if err := st.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	find := func(later func(func())) string {
		files, err := tree.Walk(t.Context(), root, &tree.Options{State: st})
		if err != nil {
			t.Fatal(err)
		}
		defer files.Close()
		cfg, _ := config.Load(root, "")
		shown := new(snapshot.Snapshot)
		ws, _ := Find(t.Context(), Options{
			Tree: files, Config: cfg, Registry: adapters.NewRegistry(builtin.All(snapshot.Options{Snapshot: shown})...), Snapshot: shown,
			Saved: st.OpenParts("answers", 1), Basis: func() string { return "b" }, Later: later,
		})
		return ws.Dishes[0].Pin.Version
	}
	saved := filepath.Join(root, state.Name, "answers")
	var write func()
	find(func(do func()) { write = do })
	if _, err := os.Stat(saved); err == nil || write == nil {
		t.Fatalf("Find has written the answers itself, or has none to write: %v", err)
	}
	text("go.mod", "module a\n\ngo 1.21\n")
	write()
	if _, err := os.Stat(saved); err != nil {
		t.Error(err)
	}
	if got := find(nil); got != "1.21" {
		t.Errorf("go %s after the edit, want 1.21", got)
	}
	before, err := os.ReadFile(saved)
	if err != nil {
		t.Fatal(err)
	}
	text("go.mod", "module a\n\ngo 1.20\n")
	find(nil)
	if after, err := os.ReadFile(saved); err != nil || string(after) == string(before) {
		t.Errorf("Find without Later has not written the answers (%v)", err)
	}
}

// described returns everything that is known of the dishes.
func described(ws *dish.Workspace) any {
	type dish struct {
		Name, Path, Adapter string
		Beside              string
		Tasks               []adapters.Task
		Aggregate           bool
		Pin                 *adapters.Toolchain
		Scope               adapters.Scope
		Lock                adapters.LockAnswer
		Links               []string
		Extra               []string
		Failure             string
		Package, ImportPath string
		Open                []string
		Closed              bool
	}
	var list []dish
	for _, d := range ws.Dishes {
		out := dish{Name: d.Name, Path: d.Path, Beside: d.Beside, Tasks: d.Tasks, Aggregate: d.Aggregate, Pin: d.Pin,
			Scope: d.Scope, Lock: d.Lock, Extra: d.Extra, Package: d.Package, ImportPath: d.ImportPath, Open: d.Open, Closed: d.Closed}
		if d.Adapter != nil {
			out.Adapter = d.Adapter.Manifest().AdapterID
		}
		for _, l := range d.Links {
			out.Links = append(out.Links, l.To.Path+" "+l.Kind+" "+l.Where)
		}
		if d.Failure != nil {
			out.Failure = d.Failure.Error()
		}
		list = append(list, out)
	}
	return list
}
