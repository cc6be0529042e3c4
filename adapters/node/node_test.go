package node

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/adaptertest"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/diagnostics"
)

func newNPM() *Adapter { return NewNPM(snapshot.Options{Env: adapters.NewEnviron(os.Environ())}) }

func TestDetect(t *testing.T) {
	root := adaptertest.Tree(t,
		"lone/package.json", `{}`,
		"lone/nothing/x", ``,
		"broken/package.json", `{`,
		"named/package.json", `{"packageManager": "yarn@4.1.0"}`, "named/package-lock.json", `{}`,
		"named/below/package.json", `{}`,
		"odd/package.json", `{"packageManager": "cnpm@1"}`, "odd/yarn.lock", ``,
		"ws/package.json", `{"workspaces": ["p/*"], "packageManager": "npm@10.0.0"}`, "ws/yarn.lock", ``,
		"ws/p/a/package.json", `{}`, "ws/p/a/pnpm-lock.yaml", ``,
		"ws/other/package.json", `{}`, "ws/other/pnpm-lock.yaml", ``,
		"pnpm/pnpm-lock.yaml", ``, "pnpm/pnpm-workspace.yaml", ``,
		"pnpm/a/package.json", `{}`,
		"pnpm/b/package.json", `{}`, "pnpm/b/package-lock.json", `{}`,
	)
	a := newNPM()
	for dir, want := range map[string]bool{
		"lone": true, "lone/nothing": false, "broken": true,
		"named": false, "named/below": false, // the field above decides when nothing nearer does
		"odd":      true,
		"ws":       true,
		"ws/p/a":   true,  // the root's field is stronger than the member's lockfile
		"ws/other": false, // not a member: its own lockfile decides
		"pnpm/a":   false, "pnpm/b": true,
	} {
		got, err := a.Detect(t.Context(), filepath.Join(root, dir))
		if err != nil || got != want {
			t.Errorf("%s: %v, %v; want %v", dir, got, err, want)
		}
	}
}

func TestTasks(t *testing.T) {
	root := adaptertest.Tree(t, "app/package.json", `{
		"scripts": {
			"build": "x", "test": "echo \"Error: no test specified\" && exit 1",
			"lint": "x", "start": "x", "a b'c": "x", "-f": "x", "build:css": "x", "bad\u0001": "x", "": "x"
		},
		"dependencies": {"next": "15"}
	}`)
	ans, err := newNPM().Tasks(t.Context(), filepath.Join(root, "app"))
	if err != nil {
		t.Fatal(err)
	}
	script := func(name, run string) adapters.Task {
		return adapters.Task{Name: name, Run: run, Body: "x", Script: true, NoCache: true, SideEffects: true, Server: snapshot.IsServer(name)}
	}
	want := []adapters.Task{
		{Name: "build", Run: "npm run build", Body: "x", Outputs: usualOutputs()},
		{Name: "lint", Run: "npm run lint", Body: "x"},
		script("start", "npm run start"), script("a b'c", `npm run 'a b'\''c'`),
		script("-f", "npm run -- -f"), script("build:css", "npm run build:css"),
	}
	if diff := cmp.Diff(want, ans.Tasks, cmpopts.IgnoreFields(adapters.Task{}, "Path", "ExtraInputs")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"node_modules/.bin"}, ans.Tasks[0].Path); diff != "" {
		t.Error(diff)
	}
	if ans.Aggregate || ans.Members != nil {
		t.Errorf("a lone package is a workspace: %+v", ans)
	}
	for _, name := range []string{"app/package.json", "", ".nvmrc", "app/yarn.lock", "app/tsconfig.json"} {
		if ans.Reads[filepath.Join(root, name)].Kind == adapters.Unseen {
			t.Errorf("%s is not among the reads", name)
		}
	}
}

func TestAliases(t *testing.T) {
	for scripts, want := range map[string]string{
		`"types": "tsc -p a", "typecheck": "tsc"`:                      "check=npm run typecheck",
		`"tsc": "tsc", "check-types": "tsc -p a"`:                      "check=npm run check-types",
		`"check": "x", "typecheck": "tsc"`:                             "check=npm run check",
		`"eslint": "eslint .", "lint:check": "eslint ."`:               "lint=npm run lint:check",
		`"jest": "jest", "vitest": "vitest", "unit": "x"`:              "test=npm run unit",
		`"test": "echo no test specified && exit 1", "test:unit": "x"`: "test=npm run test:unit",
		`"test": "echo no test specified"`:                             "test=npm test",
		`"test": "echo no test specified && exit 1", "tests": "x"`:     "",
	} {
		root := adaptertest.Tree(t, "package.json", `{"scripts": {`+scripts+`}}`)
		ans, err := newNPM().Tasks(t.Context(), root)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, task := range ans.Tasks {
			if !task.Script {
				got = append(got, task.Name+"="+task.Run)
			}
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%s: got %q, want %q", scripts, s, want)
		}
	}
}

func TestWorkspace(t *testing.T) {
	root := adaptertest.Tree(t,
		"package.json", `{"name": "all", "workspaces": ["packages/*", "!packages/old"], "scripts": {"build": "x", "fmt": "x"}}`,
		"tsconfig.base.json", `{}`, "eslint.config.mjs", ``, "jest.preset.js", ``, "babel.config.json", `{}`,
		"packages/app/package.json", `{"name": "app",
			"scripts": {"build": "x", "test": "x", "lint": "x", "check": "x"},
			"dependencies": {
				"lib": "^1.0.0", "react": "18", "vendored": "file:../../vendor/x.tgz"},
			"devDependencies": {"lib": "*", "tool": "file:../../tool", "git": "github:a/b", "alias": "npm:lib@1"},
			"peerDependencies": {"app": "*"}}`,
		"packages/app/tsconfig.json", `{"extends": "../../tsconfig.base", "references": [{"path": "../lib"}]}`,
		"packages/lib/package.json", `{"name": "lib"}`,
		"packages/old/package.json", `{"name": "old", "dependencies": {"lib": "*"}}`,
	)
	in := func(name string) string { return filepath.Join(root, name) }
	a := newNPM()

	t.Run("root", func(t *testing.T) {
		ans, err := a.Tasks(t.Context(), root)
		if err != nil {
			t.Fatal(err)
		}
		if !ans.Aggregate || ans.Tasks[0].Script || len(ans.Tasks) != 2 {
			t.Errorf("got %+v", ans)
		}
		if diff := cmp.Diff([]string{in("packages/app"), in("packages/lib")}, ans.Members); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("inputs", func(t *testing.T) {
		ans, err := a.Tasks(t.Context(), in("packages/app"))
		if err != nil {
			t.Fatal(err)
		}
		common := []string{
			in(".npmrc"), in("babel.config.json"), in("npm-shrinkwrap.json"), in("package-lock.json"), in("package.json"),
			in("tsconfig.base.json"), in("vendor/x.tgz"),
		}
		want := map[string][]string{
			"build": common,
			"test":  append([]string{in("jest.preset.js")}, common...),
			"lint":  append([]string{in("eslint.config.mjs")}, common...),
			"check": append([]string{in("jest.preset.js"), in("eslint.config.mjs")}, common...),
		}
		got := make(map[string][]string)
		for _, task := range ans.Tasks {
			got[task.Name] = task.ExtraInputs
			if diff := cmp.Diff([]string{"node_modules/.bin", "../../node_modules/.bin"}, task.Path); diff != "" {
				t.Error(diff)
			}
			if wantDeps := task.Name == "test"; wantDeps != slices.Equal(task.DependsOn, []string{"build"}) {
				t.Errorf("%s depends on %q", task.Name, task.DependsOn)
			}
		}
		if diff := cmp.Diff(want, got, cmpopts.SortSlices(strings.Compare)); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("links", func(t *testing.T) {
		ans, err := a.Links(t.Context(), in("packages/app"))
		if err != nil {
			t.Fatal(err)
		}
		file := in("packages/app/package.json")
		want := []adapters.Link{
			{Dir: in("packages/lib"), File: in("packages/app/tsconfig.json"), Line: 1, Loose: true},
			{Package: "npm:" + root + ":lib", File: file, Line: 4},
			{Package: "npm:" + root + ":react", File: file, Line: 4},
			{Dir: in("tool"), File: file, Line: 5, Dev: true},
		}
		if diff := cmp.Diff(want, ans.Links); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]string{"npm:" + root + ":app"}, ans.Provides); diff != "" {
			t.Error(diff)
		}
		top := adaptertest.Project(t, "-- package.json --\n{\"workspaces\": [\"a\"],\n\"peerDependencies\": {\"b\": \"*\"},\n\"devDependencies\": {\"a\": \"*\"}}\n-- a/package.json --\n{\"name\": \"a\"}\n")
		shared := []adapters.Link{
			{Package: "npm:ROOT:b", File: "package.json", Line: 2},
			{Package: "npm:ROOT:a", File: "package.json", Line: 3, Dev: true, Shared: true},
		}
		if diff := cmp.Diff(shared, adaptertest.Links(t, a, top, top)); diff != "" {
			t.Error("the members use what the root requires: ", diff)
		}
		old, err := a.Links(t.Context(), in("packages/old"))
		if err != nil || old.Links != nil || old.Provides != nil {
			t.Errorf("what is no member has %+v, %v", old, err)
		}
	})
	t.Run("scope", func(t *testing.T) {
		s, err := a.InstallScope(t.Context(), in("packages/lib"))
		if err != nil {
			t.Fatal(err)
		}
		want := adapters.Scope{
			Dir: root, Made: []string{npmMark}, Command: "npm install --no-package-lock",
			Files: []string{
				in("package.json"), in("npm-shrinkwrap.json"), in("package-lock.json"), in(".npmrc"),
				in("packages/app/package.json"), in("packages/lib/package.json"),
			},
		}
		if diff := cmp.Diff(want, s, cmpopts.IgnoreFields(s, "Reads")); diff != "" {
			t.Error(diff)
		}
		adaptertest.Put(t, root, "package-lock.json", "{}")
		adaptertest.Put(t, root, "patches/a.patch", "")
		adaptertest.Put(t, root, "packages/new/package.json", "{}")
		s, err = a.InstallScope(t.Context(), in("packages/new"))
		if err != nil || s.Command != "npm ci" || !slices.Contains(s.Files, in("patches/a.patch")) ||
			!slices.Contains(s.Files, in("packages/new/package.json")) {
			t.Errorf("after a change: %+v, %v", s, err)
		}
		old, err := a.InstallScope(t.Context(), in("packages/old"))
		if err != nil || old.Dir != in("packages/old") || old.Nothing {
			t.Errorf("what is no member is installed in %+v, %v", old, err)
		}
	})
}

func TestWorkspaceAboveTheRepositoryIsNobodys(t *testing.T) {
	outer := adaptertest.Tree(t, "package.json", `{"workspaces": ["**"]}`, "repo/.git/HEAD", "", "repo/a/package.json", `{}`)
	if err := os.RemoveAll(filepath.Join(outer, ".git")); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(outer, "repo", "a")
	s, err := newNPM().InstallScope(t.Context(), dir)
	if err != nil || s.Dir != dir || !s.Nothing {
		t.Errorf("got %+v, %v", s, err)
	}
}

func TestMalformedManifest(t *testing.T) {
	root := adaptertest.Tree(t, "package.json", "{\"workspaces\": [\"*\"]\n \"name\": 1}", "bad/package.json", "{\n  \"a\": }", "ok/package.json", "{}")
	a := newNPM()
	for dir, want := range map[string]string{
		"bad": filepath.Join(root, "bad/package.json") + ":2:8: not valid JSON: '}', expected a value",
		"ok":  filepath.Join(root, "package.json") + ":2:2: not valid JSON: '\"', expected a comma",
	} {
		dir = filepath.Join(root, dir)
		for name, ask := range asks(a) {
			err := ask(t.Context(), dir)
			var problems diagnostics.Problems
			if !errors.As(err, &problems) || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%s gave %v, want %s", name, err, want)
			}
		}
	}
	if err := asks(a)["tasks"](t.Context(), t.TempDir()); err == nil || !strings.Contains(err.Error(), "no package.json") {
		t.Errorf("without a package.json: %v", err)
	}
}

func asks(a *Adapter) map[string]func(context.Context, string) error {
	return map[string]func(context.Context, string) error{
		"tasks": func(ctx context.Context, dir string) error { _, err := a.Tasks(ctx, dir); return err },
		"links": func(ctx context.Context, dir string) error { _, err := a.Links(ctx, dir); return err },
		"scope": func(ctx context.Context, dir string) error { _, err := a.InstallScope(ctx, dir); return err },
		"pin":   func(ctx context.Context, dir string) error { _, err := a.RequiredToolchain(ctx, dir); return err },
	}
}

func TestNothingToInstall(t *testing.T) {
	for text, want := range map[string]bool{
		`{}`:                                      true,
		`{"dependencies": {}}`:                    true,
		`{"peerDependencies": {"a": "1"}}`:        false,
		`{"optionalDependencies": {"a": "1"}}`:    false,
		`{"devDependencies": {"a": "file:../a"}}`: false,
		`{"workspaces": ["a"]}`:                   false,
		`{"workspaces": {"packages": []}}`:        true,
	} {
		s, err := newNPM().InstallScope(t.Context(), adaptertest.Tree(t, "package.json", text))
		if err != nil || s.Nothing != want {
			t.Errorf("%s: nothing = %v, %v", text, s.Nothing, err)
		}
	}
}

// TestAnswersFollowTheFiles holds that an adapter that goes on follows the files,
// within a second.
func TestAnswersFollowTheFiles(t *testing.T) { synctest.Test(t, testAnswersFollowTheFiles) }

func testAnswersFollowTheFiles(t *testing.T) {
	root := adaptertest.Tree(t, "package.json", `{"workspaces": ["p/*"]}`, "p/a/package.json", `{"scripts": {"build": "x"}}`)
	a, dir := newNPM(), filepath.Join(root, "p/a")
	if ans, err := a.Tasks(t.Context(), dir); err != nil || len(ans.Tasks) != 1 {
		t.Fatalf("%+v, %v", ans, err)
	}
	adaptertest.Put(t, root, "p/a/package.json", `{"scripts": {"build": "x", "lint": "y"}}`)
	adaptertest.Put(t, root, "p/b/package.json", `{}`)
	adaptertest.Put(t, root, "babel.config.js", ``)
	time.Sleep(time.Second)
	ans, err := a.Tasks(t.Context(), dir)
	if err != nil || len(ans.Tasks) != 2 || !slices.Contains(ans.Tasks[0].ExtraInputs, filepath.Join(root, "babel.config.js")) {
		t.Errorf("%+v, %v", ans, err)
	}
	if ans, err := a.Tasks(t.Context(), root); err != nil || len(ans.Members) != 2 {
		t.Errorf("%+v, %v", ans, err)
	}
	adaptertest.Put(t, root, "package.json", `{"workspaces": ["q/*"]}`)
	time.Sleep(time.Second)
	if s, err := a.InstallScope(t.Context(), dir); err != nil || s.Dir != dir {
		t.Errorf("%+v, %v", s, err)
	}
}

// NewNPM returns the adapter of npm, id node-npm.
func NewNPM(o snapshot.Options) *Adapter { return newAdapter(newShelf(o), o, npmDialect()) }

// NewPNPM returns the adapter of pnpm, id node-pnpm.
func NewPNPM(o snapshot.Options) *Adapter { return newAdapter(newShelf(o), o, pnpmDialect()) }

// NewYarn returns the adapter of yarn 1 and its successor, id node-yarn.
func NewYarn(o snapshot.Options) *Adapter {
	s := newShelf(o)
	return newAdapter(s, o, yarnDialect(s))
}

// NewBun returns the adapter of bun, id bun.
func NewBun(o snapshot.Options) *Adapter { return newAdapter(newShelf(o), o, bunDialect()) }

// TestAliasOrder: of the scripts that may stand for a missing one the first in order does.
func TestAliasOrder(t *testing.T) {
	for name, order := range map[string][]string{
		"check": {"typecheck", "type-check", "types:check", "check:types", "check-types", "types", "tsc"},
		"lint":  {"lint:check", "eslint"},
		"test":  {"test:unit", "unit", "vitest", "jest"},
	} {
		for i, first := range order {
			scripts := `"` + strings.Join(order[i:], `": "x", "`) + `": "x"`
			ans, err := newNPM().Tasks(t.Context(), adaptertest.Tree(t, "package.json", `{"scripts": {`+scripts+`}}`))
			if err != nil {
				t.Fatal(err)
			}
			at := slices.IndexFunc(ans.Tasks, func(t adapters.Task) bool { return t.Name == name })
			if at < 0 || ans.Tasks[at].Run != "npm run "+first {
				t.Errorf("%s of %s: %v", name, scripts, ans.Tasks)
			}
		}
	}
}
