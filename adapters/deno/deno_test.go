package deno

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/adaptertest"
	"github.com/bentobuild/bento/adapters/snapshot"
)

func newDeno() *Adapter { return New(snapshot.Options{Env: adaptertest.Env()}) }

const workspace = `
-- deno.jsonc --
{ // the root
  "workspace": ["./packages/*", "tools/gen",],
  "tasks": {"all": "deno test"},
  "imports": {"shared/": "./shared/", "std": "jsr:@std/assert@1"},
}
-- package.json --
{}
-- packages/lib/deno.json --
{"name": "@ex/lib", "exports": "./mod.ts"}
-- packages/lib/mod.ts --
export * from "shared/x.ts";
-- packages/app/deno.json --
{
  "name": "@ex/app",
  "exports": "./main.ts",
  "tasks": {"build": "deno bundle", "test": "deno test", "dev": {"command": "x"}, "a b": "y"},
  "imports": {
    "gen": "../../tools/gen/mod.ts"
  }
}
-- packages/app/main.ts --
import { a } from "@ex/lib";
import { b } from "jsr:@ex/lib@1/sub";
import { c } from "@ex/app/self";
import { d } from "std";
import { e } from "npm:chalk@4";
import { f } from "./own.ts";
-- packages/app/main_test.ts --
import "../other/mod.ts";
import { a } from "@ex/lib";
-- packages/other/mod.ts --
export {};
-- tools/gen/deno.json --
{}
-- tools/gen/mod.ts --
-- tools/gen/mod_bench.ts --
-- lone/deno.lock --
{"version": "5"}
`

func TestDetect(t *testing.T) {
	root := adaptertest.Project(t, workspace)
	for dir, want := range map[string]bool{".": true, "packages/lib": true, "packages/other": false, "lone": true, "packages": false} {
		got, err := newDeno().Detect(t.Context(), filepath.Join(root, dir))
		if err != nil || got != want {
			t.Errorf("%s: %v, %v", dir, got, err)
		}
	}
}

func TestTasks(t *testing.T) {
	root := adaptertest.Project(t, workspace)
	a := newDeno()
	for dir, want := range map[string]map[string]string{
		".":             {"all": "(deno task all)"},
		"packages/app":  {"build": "deno task build", "test": "deno task test", "dev": "(deno task dev)", "a b": "(deno task 'a b')", "lint": "deno lint", "format": "(deno fmt)"},
		"packages/lib":  {"build": "deno check .", "lint": "deno lint", "format": "(deno fmt)"},
		"tools/gen":     {"build": "deno check .", "lint": "deno lint", "format": "(deno fmt)", "bench": "(deno bench)"},
		"lone":          {},
		"packages/more": nil,
	} {
		if want == nil {
			continue
		}
		if diff := cmp.Diff(want, adaptertest.Runs(t, a, filepath.Join(root, dir))); diff != "" {
			t.Errorf("%s: %s", dir, diff)
		}
	}
	top := adaptertest.Tasks(t, a, root)
	in := func(name string) string { return filepath.Join(root, name) }
	want := []string{in("packages/app"), in("packages/lib"), in("packages/other"), in("tools/gen")}
	if diff := cmp.Diff(want, top.Members); diff != "" || !top.Aggregate {
		t.Error(diff)
	}
	build := adaptertest.Task(t, a, in("packages/app"), "build")
	if diff := cmp.Diff([]string{in("deno.jsonc"), in("package.json"), in("deno.lock")}, build.ExtraInputs); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"dist/**"}, build.Outputs); diff != "" {
		t.Error(diff)
	}
	// Deno runs sources: a test needs nothing that is built.
	if test := adaptertest.Task(t, a, in("packages/app"), "test"); test.DependsOn != nil {
		t.Errorf("test depends on %q", test.DependsOn)
	}
	reads := adaptertest.Tasks(t, a, in("packages/lib")).Reads
	for _, name := range []string{"deno.jsonc", "packages/deno.json", "packages/lib/deno.lock", "packages/lib", ".deno-version"} {
		if reads[in(name)].Kind == adapters.Unseen {
			t.Errorf("%s is not among the reads", name)
		}
	}
}

// What the root of a workspace runs for all members passes for one alone.
func TestMembersTakeOverTestOptions(t *testing.T) {
	for task, want := range map[string]string{
		"deno test -A --parallel --trace-leaks --coverage --doc --clean --ignore=_tools/": "deno test -A --trace-leaks --doc",
		"deno fmt --check && deno test --allow-env=HOME --unstable-kv tests":              "deno test --allow-env=HOME --unstable-kv",
		"deno test --no-check --fail-fast":                                                "deno test --allow-read --no-check",
		"deno test --allow-read=fixtures -N":                                              "deno test --allow-read",
		"deno test -W=out":                                                                "deno test --allow-read",
		"deno test --allow-run=./bin/x":                                                   "deno test --allow-read",
		"deno test $FLAGS -A":                                                             "deno test --allow-read",
		"deno run -A test.ts":                                                             "deno test --allow-read",
		"deno test":                                                                       "deno test --allow-read",
	} {
		root := adaptertest.Project(t, `
-- deno.json --
{"workspace": ["a"], "tasks": {"test": "`+task+`"}}
-- a/deno.json --
{"name": "@ex/a", "exports": "./mod.ts"}
-- a/mod_test.ts --
-- alone/deno.json --
{}
-- alone/mod_test.ts --
`)
		if got := adaptertest.Task(t, newDeno(), filepath.Join(root, "a"), "test").Run; got != want {
			t.Errorf("%s: got %q, want %q", task, got, want)
		}
		if got := adaptertest.Task(t, newDeno(), filepath.Join(root, "alone"), "test").Run; got != "deno test --allow-read" {
			t.Errorf("no member: %q", got)
		}
	}
}

// Tests of a program that looks at NO_COLOR fail with it, and pass by hand.
func TestOnlyDenosOwnCommandsArePlain(t *testing.T) {
	root, a := adaptertest.Project(t, `
-- deno.json --
{"tasks": {"check": "deno run check.ts"}}
-- mod.ts --
-- mod_test.ts --
`), newDeno()
	if a.Manifest().SetEnv["NO_COLOR"] != "" {
		t.Error("every task has NO_COLOR")
	}
	for name, want := range map[string]string{"build": "1", "lint": "1", "check": "", "test": ""} {
		if got := adaptertest.Task(t, a, root, name).Env["NO_COLOR"]; got != want {
			t.Errorf("%s: NO_COLOR is %q, want %q", name, got, want)
		}
	}
}

// A lockfile that git ignores holds what was run so far, and no whole install.
func TestIgnoredLockfileIsNotInstalled(t *testing.T) {
	for ignore, nothing := range map[string]bool{"deno.lock\n": true, "dist\n/deno.lock": true, "deno.locks\n": false, "": false} {
		root := adaptertest.Project(t, `
-- deno.json --
{"workspace": ["a"]}
-- deno.lock --
{"version": "5", "npm": {"chalk@5.0.0": {"integrity": "x"}}}
-- a/deno.json --
{}
`)
		adaptertest.Write(t, filepath.Join(root, ".gitignore"), ignore)
		s, err := newDeno().InstallScope(t.Context(), filepath.Join(root, "a"))
		if err != nil || s.Nothing != nothing {
			t.Errorf("%q: %+v, %v", ignore, s, err)
		}
		if _, seen := s.Reads[filepath.Join(root, ".gitignore")]; !seen {
			t.Error("the answer does not depend on .gitignore")
		}
	}
}

// "deno task" runs the scripts of package.json, too.
func TestScripts(t *testing.T) {
	root := adaptertest.Project(t, `
-- deno.lock --
{"version": "5"}
-- package.json --
{"scripts": {"build": "tsc && vite build", "dev": "vite", "test": "echo \"Error: no test specified\" && exit 1"}}
-- src/main_test.ts --
-- both/deno.json --
{"tasks": {"build": "deno bundle", "tsc": "x"}}
-- both/package.json --
{"scripts": {"build": "vite build", "test": "node --test", "tsc": "tsc", "types": "tsc -p a", "eslint": "eslint ."}}
-- both/main_test.ts --
-- wrong/deno.json --
{}
-- wrong/package.json --
{"scripts": {"build": 1}}
`)
	a := newDeno()
	for dir, want := range map[string]map[string]string{
		".": {"build": "deno task build", "dev": "(deno task dev)", "test": "deno test --allow-read", "lint": "deno lint", "format": "(deno fmt)"},
		"both": {
			"build": "deno task build", "test": "deno task test", "format": "(deno fmt)", "check": "deno task types", "lint": "deno task eslint",
			"tsc": "(deno task tsc)", "types": "(deno task types)", "eslint": "(deno task eslint)",
		},
	} {
		if diff := cmp.Diff(want, adaptertest.Runs(t, a, filepath.Join(root, dir))); diff != "" {
			t.Errorf("%s: %s", dir, diff)
		}
	}
	if build := adaptertest.Task(t, a, root, "build"); !slices.Equal(build.Outputs, []string{"dist/**"}) {
		t.Errorf("outputs %q", build.Outputs)
	}
	if reads := adaptertest.Tasks(t, a, filepath.Join(root, "both")).Reads; reads[filepath.Join(root, "both/package.json")].Kind == adapters.Unseen {
		t.Error("package.json is not among the reads")
	}
	if _, err := a.Tasks(t.Context(), filepath.Join(root, "wrong")); err == nil || !strings.Contains(err.Error(), "scripts.build") {
		t.Errorf("a script that is no text: %v", err)
	}
}

func TestLinks(t *testing.T) {
	root := adaptertest.Project(t, workspace)
	a := newDeno()
	for dir, want := range map[string][]adapters.Link{
		"packages/app": {
			{Dir: "tools/gen", File: "packages/app/deno.json", Line: 6, Loose: true},
			{Package: "deno:ROOT:@ex/lib", File: "packages/app/main.ts", Line: 1},
			{Package: "deno:ROOT:@std/assert", File: "packages/app/main.ts", Line: 4},
			{Dir: "packages/other", File: "packages/app/main_test.ts", Line: 1, Dev: true, Private: true, Loose: true},
		},
		"packages/lib": {{Dir: "shared", File: "packages/lib/mod.ts", Line: 1, Loose: true}},
		".":            {{Package: "deno:ROOT:@std/assert", File: "deno.jsonc", Line: 4}},
	} {
		if diff := cmp.Diff(want, adaptertest.Links(t, a, root, filepath.Join(root, dir))); diff != "" {
			t.Errorf("%s: %s", dir, diff)
		}
	}
	// A root that is a package, too, is checked with all its members.
	adaptertest.Replace(t, filepath.Join(root, "deno.jsonc"), `"workspace"`, `"exports": "./mod.ts", "workspace"`)
	if got := adaptertest.Links(t, a, root, root); len(got) != 5 || got[1].Dir != "packages/app" || !got[1].Deep {
		t.Errorf("%+v", got)
	}
	answer, err := a.Links(t.Context(), filepath.Join(root, "packages/lib"))
	if diff := cmp.Diff([]string{"deno:" + root + ":@ex/lib"}, answer.Provides); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

func TestImportMap(t *testing.T) {
	root := adaptertest.Project(t, `
-- deno.json --
{"importMap": "maps/import_map.json"}
-- maps/import_map.json --
{"imports": {"up/": "../../up/", "in": "../mod.ts"}}
-- mod.ts --
import "up/x.ts"; import "in";
`)
	dir := filepath.Join(root)
	if diff := cmp.Diff([]adapters.Link{{Dir: "../up", File: "mod.ts", Line: 1, Loose: true}}, adaptertest.Links(t, newDeno(), root, dir)); diff != "" {
		t.Error(diff)
	}
	adaptertest.Write(t, filepath.Join(root, "maps/import_map.json"), "{\n\"imports\": 1}")
	_, err := newDeno().Links(t.Context(), dir)
	if got := adaptertest.Where(t, root, err); got != `maps/import_map.json:2:12: "imports" is a number, expected an object of strings` {
		t.Error(got)
	}
}

func TestMalformed(t *testing.T) {
	root := adaptertest.Project(t, "-- deno.json --\n{\"workspace\": [\"a\"],}\n-- a/deno.jsonc --\n{\n  \"tasks\": [1]\n}\n-- b/deno.json --\n{\"a\": }\n")
	for dir, want := range map[string]string{"a": `a/deno.jsonc:2:12: "tasks" is a list, expected an object of commands`, "b": "b/deno.json:1:7: not valid JSON: '}', expected a value"} {
		for _, ask := range []func() error{
			func() error { _, err := newDeno().Tasks(t.Context(), filepath.Join(root, dir)); return err },
			func() error { _, err := newDeno().InstallScope(t.Context(), filepath.Join(root, dir)); return err },
			func() error { _, err := newDeno().LockDigest(t.Context(), filepath.Join(root, dir)); return err },
		} {
			if got := adaptertest.Where(t, root, ask()); got != want {
				t.Errorf("%s: %s", dir, got)
			}
		}
	}
}

func TestScope(t *testing.T) {
	root := adaptertest.Project(t, workspace+"-- deno.lock --\n{\"version\": \"5\", \"npm\": {\"a@1\": {}}, \"remote\": {\"x\": \"y\"}}\n")
	scope := func(dir string, env ...string) adapters.Scope {
		s, err := New(snapshot.Options{Env: adapters.NewEnviron(append([]string{"HOME=/h"}, env...))}).InstallScope(t.Context(), filepath.Join(root, dir))
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := scope("packages/app", "DENO_DIR=/d")
	if s.Dir != root || s.Nothing || s.Command != command || !slices.Contains(s.Files, filepath.Join(root, "packages/lib/deno.json")) {
		t.Errorf("%+v", s)
	}
	// There is a package.json.
	if diff := cmp.Diff([]string{"node_modules", "/d/remote"}, s.Made); diff != "" {
		t.Error(diff)
	}
	if err := os.Remove(filepath.Join(root, "package.json")); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"/c/deno/npm", "/c/deno/remote"}, scope("packages/app", "XDG_CACHE_HOME=/c").Made); diff != "" {
		t.Error(diff)
	}
	if s := scope("lone"); !s.Nothing || s.Dir != filepath.Join(root, "lone") {
		t.Errorf("%+v", s)
	}
	adaptertest.Replace(t, filepath.Join(root, "deno.jsonc"), `"workspace"`, `"lock": false, "workspace"`)
	if s := scope("packages/app"); !s.Nothing {
		t.Errorf("%+v", s)
	}
}

func TestLockDigest(t *testing.T) {
	root := adaptertest.Fixture(t, "deno")
	a := newDeno()
	digest := func(member string) string {
		l := adaptertest.Lock(t, a, root, filepath.Join(root, "packages", member))
		if l.File != "deno.lock" || l.Digest == "" || l.Whole != "" {
			t.Fatalf("%+v", l)
		}
		return l.Digest
	}
	app, lib := digest("app"), digest("lib")
	lock := filepath.Join(root, "deno.lock")
	adaptertest.Replace(t, lock, "sha512-sGkPx", "sha512-X")
	if digest("app") == app || digest("lib") != lib {
		t.Error("a change of what the application depends on is not only its own")
	}
	adaptertest.Replace(t, lock, "sha512-X", "sha512-sGkPx")
	adaptertest.Replace(t, lock, "sha512-41Cif", "sha512-X")
	if digest("app") == app || digest("lib") == lib {
		t.Error("a change of what the library depends on is not that of both")
	}
	adaptertest.Write(t, lock, `{"version": "77"}`)
	if l := adaptertest.Lock(t, a, root, filepath.Join(root, "packages/app")); l.Digest != "" || l.Whole != `deno lockfile version "77" is not known` {
		t.Errorf("%+v", l)
	}
}

func TestPins(t *testing.T) {
	for _, tt := range []struct{ files, want string }{
		{"", ""},
		{"-- .deno-version --\n# ours\nv2.1.0\n", ".deno-version:2 v2.1.0"},
		{"-- a/.dvmrc --\nlatest\n-- .tool-versions --\ndeno 2.2.2\n", ".tool-versions:1 2.2.2"},
		{"-- a/deno.json --\n{\n\"deno\": \"^2.1\"}\n-- .tool-versions --\ndeno 2.2.2\n", "a/deno.json:2 ^2.1"},
	} {
		root := adaptertest.Project(t, "-- a/deno.json --\n{}\n"+tt.files)
		pin, err := newDeno().RequiredToolchain(t.Context(), filepath.Join(root, "a"))
		got := ""
		if pin != nil {
			got = adaptertest.Relative(root, pin.File) + ":" + string(rune('0'+pin.Line)) + " " + pin.Version
		}
		if err != nil || got != tt.want {
			t.Errorf("%q: %q, %v", tt.files, got, err)
		}
	}
	root := adaptertest.Project(t, "-- deno.json --\n{}\n-- .deno-version --\n\nnew one\n")
	_, err := newDeno().RequiredToolchain(t.Context(), root)
	if got := adaptertest.Where(t, root, err); got != `.deno-version:2: .deno-version: "new one" is not a version or a range` {
		t.Error(got)
	}
	const found = "deno=2.9.6 v8=15.0 typescript=6.0.3"
	for want, ok := range map[string]bool{"2.9.6": true, "v2.9.6": true, "^2.1": true, "2": true, "2.8": false, ">=3": false, strings.Repeat("9", 300): false} {
		if v := newDeno().CheckPin(adapters.Toolchain{Tool: "deno", Version: want}, found); v.OK != ok || (v.Hint == "") != ok || v.Found != "2.9.6" {
			t.Errorf("%q: %+v", want, v)
		}
	}
}

func TestMissingTool(t *testing.T) {
	bin := t.TempDir()
	a := New(snapshot.Options{Env: adapters.Environ{"PATH=" + bin}})
	for _, err := range []error{second(a.ToolchainFingerprint(t.Context(), bin)), second(a.ToolchainBasis(t.Context(), bin))} {
		var missing *adapters.MissingTool
		if !errors.As(err, &missing) || missing.Tool != "deno" || missing.Hint == "" {
			t.Errorf("%v", err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

func TestVersionBehindAWarning(t *testing.T) {
	got, err := versions("deno", "warning: old\ndeno 2.9.6 (stable, release)\nv8 15.0\ntypescript 6.0.3\n")
	if got != "deno=2.9.6 v8=15.0 typescript=6.0.3" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := versions("deno", "nonsense"); err == nil {
		t.Error("nonsense is a version")
	}
}

func TestAddForDevelopment(t *testing.T) {
	root := adaptertest.Project(t, "-- deno.json --\n{}\n")
	err := newDeno().Add(t.Context(), adapters.AddRequest{DishDir: root, Packages: []string{"npm:ms"}, Dev: true}, nil)
	var not *adapters.Unsupported
	if !errors.As(err, &not) || not.Hint == "" {
		t.Errorf("%v", err)
	}
}

// TestRealDeno: install, recipes, add and a new project with the tool.
func TestRealDeno(t *testing.T) {
	adaptertest.Drive(t, "deno")
	env := adaptertest.Env("DENO_DIR=" + t.TempDir())
	a := New(snapshot.Options{Env: env})
	root := adaptertest.Fixture(t, "deno")
	app, lib := filepath.Join(root, "packages/app"), filepath.Join(root, "packages/lib")
	if log, err := adaptertest.Install(t, a, env, app); err != nil {
		adaptertest.Lack(t, "its packages are not available: %v\n%s", err, strings.Join(log, "\n"))
	}
	for _, dir := range []string{lib, app} {
		for _, name := range []string{"build", "test", "lint"} {
			if exit, said := adaptertest.Run(t, a, env, dir, adaptertest.Task(t, a, dir, name)); exit != 0 {
				t.Errorf("%s in %s exits with %d: %s", name, dir, exit, said)
			}
		}
	}
	adaptertest.Replace(t, filepath.Join(app, "deno.json"), "2.1.2", "2.1.3")
	_, err := adaptertest.Install(t, a, env, app)
	var failed *adapters.InstallError
	if !errors.As(err, &failed) || failed.Command != command || !strings.Contains(failed.Detail, "lockfile") {
		t.Errorf("a stale lockfile gave %v", err)
	}
	req := adapters.AddRequest{DishDir: lib, DishName: "lib", Packages: []string{"npm:is-odd@3.0.1"}, Env: adaptertest.TaskEnv(a, env)}
	if err := a.Add(t.Context(), req, nil); err != nil {
		t.Error(err)
	}
	data, err := os.ReadFile(filepath.Join(lib, "deno.json"))
	if err != nil || !strings.Contains(string(data), `"npm:is-odd@3.0.1"`) {
		t.Errorf("%s, %v", data, err)
	}
	got, err := a.ToolchainFingerprint(t.Context(), root)
	one, err2 := a.ToolchainBasis(t.Context(), root)
	two, err3 := a.ToolchainBasis(t.Context(), t.TempDir())
	if err := errors.Join(err, err2, err3); err != nil || !strings.HasPrefix(got, "deno=") || one != two {
		t.Errorf("%q, %v\n%q\n%q", got, err, one, two)
	}
	adaptertest.ScaffoldWorks(t, a, env)
}

// An answer is made from manifests as much as from sources, and follows both, however
// long ago they were written.
func TestAnswersFollowTheFiles(t *testing.T) {
	root := adaptertest.Project(t, workspace+`
-- named/deno.json --
{
  "lock": "other.lock",
  "exports": "./mod.ts"
}
-- named/mod.ts --
import "npm:is-odd@3.0.1";
-- named/deno.lock --
{"version": "5", "specifiers": {"npm:is-odd@3.0.1": "3.0.1"}, "npm": {"is-odd@3.0.1": {"integrity": "sha512-1"}}}
-- named/other.lock --
{"version": "5", "specifiers": {"npm:is-odd@3.0.1": "3.0.1"}, "npm": {"is-odd@3.0.1": {"integrity": "sha512-2"}}}
`)
	adaptertest.Follows(t, func() adapters.Adapter { return newDeno() }, root, []string{"deno.json", "deno.jsonc", "*.ts"})
}
