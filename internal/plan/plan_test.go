package plan

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/dish"
)

// newDish makes a dish of one recipe a name; "build!" declares outputs.
func newDish(path string, recipes ...string) *dish.Dish {
	d := &dish.Dish{Name: path, Path: path, Dir: "/w/" + path}
	for _, r := range recipes {
		name, makes := strings.CutSuffix(r, "!")
		task := adapters.Task{Name: name, Run: "do " + name}
		if makes {
			task.Outputs = []string{"dist/**"}
		}
		d.Tasks = append(d.Tasks, task)
	}
	return d
}

func link(from *dish.Dish, to ...*dish.Dish) {
	for _, d := range to {
		from.Links = append(from.Links, dish.Link{To: d, Kind: dish.Inferred})
	}
}

func workspace(dishes ...*dish.Dish) *dish.Workspace {
	return &dish.Workspace{Root: "/w", Dishes: dishes}
}

// build returns the ids of a plan in order, or fails on problems.
func build(t *testing.T, ws *dish.Workspace, req Request) (*Plan, []string) {
	t.Helper()
	p, problems := Build(ws, req)
	if len(diagnostics.Errors(problems)) > 0 {
		t.Fatalf("problems: %v", problems)
	}
	ids := []string{}
	for _, task := range p.Tasks {
		ids = append(ids, task.ID())
	}
	return p, ids
}

func TestLinkedBuildsComeFirst(t *testing.T) {
	app, ui, lib := newDish("app", "build!", "test"), newDish("ui", "build"), newDish("lib", "build!", "test")
	link(app, ui)
	link(ui, lib)
	p, ids := build(t, workspace(app, lib, ui), Request{Tasks: []string{"test"}, Targets: []string{"app"}})
	// ui has no outputs, so app waits for lib through it. Neither lib:test nor app:build is needed.
	if diff := cmp.Diff([]string{"lib:build", "app:test"}, ids); diff != "" {
		t.Error(diff)
	}
	if got := p.Tasks[1].Sources; len(got) != 1 || got[0] != ui {
		t.Errorf("sources of app:test = %v", got)
	}
}

func TestTasksOfADishFollowOneAnother(t *testing.T) {
	d := newDish("d", "test", "lint", "build", "check", "zip")
	d.Tasks[4].DependsOn = []string{"build"}
	p, ids := build(t, workspace(d), Request{Tasks: []string{"test", "lint", "check", "build", "zip"}})
	if diff := cmp.Diff([]string{"d:build", "d:check", "d:lint", "d:test", "d:zip"}, ids); diff != "" {
		t.Error(diff)
	}
	if got := p.Graph.Before(3); !cmp.Equal(got, []int{2}) {
		t.Errorf("d:test comes behind %v", got)
	}
}

func TestOrderGivesWayToDependsOn(t *testing.T) {
	d := newDish("d", "build", "gen")
	d.Tasks[0].DependsOn = []string{"gen"}
	_, ids := build(t, workspace(d), Request{Tasks: []string{"build"}})
	if diff := cmp.Diff([]string{"d:gen", "d:build"}, ids); diff != "" {
		t.Error(diff)
	}
}

func TestDishOutputsBelongToBuildAlone(t *testing.T) {
	d := newDish("d", "build", "check", "test")
	d.Config = &dish.Settings{Outputs: []dish.Glob{{Text: "bin/api"}}}
	p, _ := build(t, workspace(d), Request{})
	for _, task := range p.Tasks {
		if (len(task.Outputs) > 0) != (task.Name == "build") {
			t.Errorf("%s has outputs %v", task.ID(), task.Outputs)
		}
	}
}

func TestOverrideInherits(t *testing.T) {
	d := newDish("d", "build!")
	off, on := false, true
	d.Config = &dish.Settings{Tasks: []dish.TaskSettings{
		{Name: "build", Env: []string{"MODE"}, Cache: &off},
		{Name: "serve", Run: "serve", Persistent: &on},
		{Name: "ship", Run: "ship", CI: true},
	}}
	p, ids := build(t, workspace(d), Request{})
	if diff := cmp.Diff([]string{"d:build", "d:ship"}, ids); diff != "" {
		t.Error(diff)
	}
	b := p.Tasks[0]
	if b.Run != "do build" || len(b.Outputs) != 1 || b.Uncached == "" || !cmp.Equal(b.HashEnv, []string{"MODE"}) {
		t.Errorf("build = %+v", b)
	}
}

func TestUncachedDependencyCountsByItsOutputs(t *testing.T) {
	d := newDish("d", "test", "gen!")
	d.Tasks[0].DependsOn = []string{"gen"}
	d.Tasks[1].NoCache = true
	p, _ := build(t, workspace(d), Request{Tasks: []string{"test"}})
	if got := p.Tasks[1].Deps[0].Via; got != ViaOutputs {
		t.Errorf("via = %v, want %v", got, ViaOutputs)
	}
}

func TestAbsoluteInputsBecomeRooted(t *testing.T) {
	d := newDish("pkgs/a", "build")
	d.Tasks[0].ExtraInputs = []string{"/w/package-lock.json", "/etc/passwd", "/w/odd[1].json", "//base.json"}
	p, _ := build(t, workspace(d), Request{})
	want := []string{"//package-lock.json", `//odd\[1].json`, "//base.json"}
	if diff := cmp.Diff(want, p.Tasks[0].Inputs); diff != "" {
		t.Error(diff)
	}
}

func TestTargets(t *testing.T) {
	api, web, docs := newDish("services/api", "build"), newDish("services/web", "build"), newDish("docs", "build")
	ws := workspace(docs, api, web)
	ws.Bentos = []dish.Bento{{Name: "prod", Dishes: []string{"services/web"}}}
	for _, tc := range []struct {
		targets []string
		dir     string
		want    []string
	}{
		{nil, "", []string{"docs:build", "services/api:build", "services/web:build"}},
		{[]string{"services"}, "", []string{"services/api:build", "services/web:build"}},
		{[]string{"../docs"}, "services", []string{"docs:build"}},
		{[]string{"/services/api/cmd"}, "", []string{"services/api:build"}},
		{[]string{"prod", "docs"}, "", []string{"docs:build", "services/web:build"}},
		{[]string{"."}, "services/web", []string{"services/web:build"}},
	} {
		_, ids := build(t, ws, Request{Tasks: []string{"build"}, Targets: tc.targets, Dir: tc.dir})
		if diff := cmp.Diff(tc.want, ids); diff != "" {
			t.Errorf("%v: %s", tc.targets, diff)
		}
	}
}

func TestProblems(t *testing.T) {
	a, b := newDish("a", "build"), newDish("b", "test")
	a.Tasks[0].DependsOn = []string{"b:tset"}
	ws := workspace(a, b)
	for _, tc := range []struct {
		req        Request
		code, hint string
	}{
		{Request{}, "unknown_task", `did you mean "test"?`},
		{Request{Tasks: []string{"a:bild"}}, "unknown_task", `did you mean "build"?`},
		{Request{Tasks: []string{"c:build"}}, "unknown_dish", "known: a, b; bento plan lists the dishes and their tasks"},
		{Request{Bentos: []string{"x"}}, "unknown_bento", ""},
		{Request{Targets: []string{"nowhere"}}, "target_not_found", "known: a, b; bento plan lists the dishes and their tasks"},
		{Request{Targets: []string{"nowhere"}, Dir: "a"}, "target_not_found", "known: a, b; bento plan lists the dishes and their tasks"},
	} {
		_, problems := Build(ws, tc.req)
		found := false
		for _, p := range problems {
			found = found || p.Rule == tc.code && p.Hint == tc.hint
		}
		if !found {
			t.Errorf("%+v: no %s with hint %q in %v", tc.req, tc.code, tc.hint, problems)
		}
	}
}

func TestCycleIsNamed(t *testing.T) {
	a, b := newDish("a", "x"), newDish("b", "y")
	a.Tasks[0].DependsOn, b.Tasks[0].DependsOn = []string{"b:y"}, []string{"a:x"}
	_, problems := Build(workspace(a, b), Request{Tasks: []string{"x"}})
	if len(problems) != 1 || problems[0].Message != "tasks wait for each other: a:x → b:y → a:x" {
		t.Errorf("problems = %v", problems)
	}
}

// process is a plugin.
type process struct {
	adapters.Adapter
	manifest adapters.Manifest
}

func (p *process) Manifest() *adapters.Manifest { return &p.manifest }
func (p *process) Start(context.Context) error  { return nil }

// TestRecipesOfPlugins: a wrong dependency in a plugin's recipe fails only that task, and is reported
// once. It affects no other tasks, and errors of dish.toml are still reported.
func TestRecipesOfPlugins(t *testing.T) {
	for _, tc := range []struct {
		name   string
		x, y   []string // the dependencies of the plugin's build in each
		ok     []string // the dependencies of ok:build in dish.toml
		failed string
		says   string
	}{
		{"no dish", nil, []string{"test", "zz:build"}, nil, "y:build", `[0].depends_on[1] for y:build: expected an existing task, got "zz:build", whose dish is not in this workspace`},
		{"no task", []string{"nope"}, nil, nil, "x:build", `[0].depends_on[0] for x:build: expected an existing task, got "nope": dish "x" has no task "nope"`},
		{"no names", nil, []string{":"}, nil, "y:build", `got ":", whose dish is not`},
		{"itself", nil, []string{"y:build"}, nil, "y:build", `expected a task that does not wait for "y:build", got "y:build"`},
		{"each other", []string{"y:build"}, []string{"x:build"}, nil, "x:build y:build", `expected a task that does not wait for "x:build", got "y:build"`},
		{"one's own", nil, []string{"ok:build"}, []string{"y:build"}, "y:build", `expected a task that does not wait for "y:build", got "ok:build"`},
		{"no cycle", nil, []string{"x:build", "y:test", "test"}, []string{"y:build"}, "", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			ok, x, y := newDish("ok"), newDish("x", "build", "test"), newDish("y", "build", "test")
			x.Tasks[0].DependsOn, y.Tasks[0].DependsOn = tc.x, tc.y
			x.Adapter = &process{manifest: adapters.Manifest{AdapterID: "t", Capabilities: adapters.Capabilities{Tasks: true}}}
			y.Adapter = x.Adapter
			own := dish.TaskSettings{Name: "build", Run: "do"}
			for _, text := range tc.ok {
				own.DependsOn = append(own.DependsOn, dish.Text{Text: text, Pos: diagnostics.Pos{File: "ok/dish.toml", Line: 3}})
			}
			ok.Config = &dish.Settings{Tasks: []dish.TaskSettings{own}}
			p, problems := Build(workspace(ok, x, y), Request{})
			var failed []string
			for _, task := range p.Tasks {
				if task.Fault() != nil {
					failed = append(failed, task.ID())
				}
			}
			if got := strings.Join(failed, " "); got != tc.failed || len(p.Tasks) != 5 {
				t.Errorf("failed %q of %d tasks, want %q of 5", got, len(p.Tasks), tc.failed)
			}
			if tc.says == "" && len(problems) == 0 {
				return
			}
			if len(problems) != 1 || problems[0].Severity != diagnostics.Warning || !strings.Contains(problems[0].Message, tc.says) {
				t.Errorf("problems %v, want one warning with %s", problems, tc.says)
			}
		})
	}
}

// TestCycleOfDishToml: recipes of a plugin that depend on tasks of their own dish are not to blame
// for a cycle that dish.toml closes. The plan has the tasks that do not wait for the cycle.
func TestCycleOfDishToml(t *testing.T) {
	y, z := newDish("y", "build", "test"), newDish("z", "build")
	y.Tasks[1].DependsOn = []string{"build"}
	y.Adapter = &process{manifest: adapters.Manifest{AdapterID: "t"}}
	y.Config = &dish.Settings{Tasks: []dish.TaskSettings{{Name: "build", DependsOn: []dish.Text{{Text: "test", Pos: diagnostics.Pos{File: "y/dish.toml", Line: 3}}}}}}
	p, problems := Build(workspace(y, z), Request{})
	if len(problems) != 1 || problems[0].Rule != "task_cycle" || problems[0].File != "y/dish.toml" {
		t.Errorf("problems %v, want the cycle at y/dish.toml", problems)
	}
	if len(p.Tasks) != 1 || p.Tasks[0].ID() != "z:build" {
		t.Errorf("tasks %v, want z:build", p.Tasks)
	}
}

func TestOwnTasksSeeTheToolsOfTheDish(t *testing.T) {
	d := newDish("d", "test")
	d.Tasks[0].Path, d.Tasks[0].Env = []string{".venv/bin"}, map[string]string{"VIRTUAL_ENV": "/w/d/.venv"}
	d.Tasks[0].ExtraInputs = []string{"/w/base.lock"}
	d.Config = &dish.Settings{Tasks: []dish.TaskSettings{{Name: "gen", Run: "python gen.py"}}}
	p, _ := build(t, workspace(d), Request{Tasks: []string{"gen"}})
	gen := p.Tasks[0]
	if !cmp.Equal(gen.Path, []string{".venv/bin"}) || gen.SetEnv["VIRTUAL_ENV"] == "" || !cmp.Equal(gen.Inputs, []string{"//base.lock"}) {
		t.Errorf("gen = %+v", gen)
	}
}

func TestMutexOfARecipeStays(t *testing.T) {
	d := newDish("d", "build", "test")
	d.Tasks[0].Mutex, d.Tasks[1].Mutex = "reactor", "reactor"
	d.Config = &dish.Settings{Tasks: []dish.TaskSettings{{Name: "build", Retry: 1}, {Name: "test", Mutex: "database"}}}
	p, _ := build(t, workspace(d), Request{Tasks: []string{"build", "test"}})
	if p.Tasks[0].Mutex != "reactor" || p.Tasks[1].Mutex != "database" {
		t.Errorf("mutexes %q and %q", p.Tasks[0].Mutex, p.Tasks[1].Mutex)
	}
}

// TestPrivateLinks: a private link applies to the tasks of the dish that use it, and not to dishes
// that are linked to that dish. With arguments any task may use it.
func TestPrivateLinks(t *testing.T) {
	leaf, mid, app := newDish("leaf", "build!"), newDish("mid", "build", "test"), newDish("app", "test")
	link(mid, leaf)
	link(app, mid)
	mid.Links[0].Private, mid.Tasks[0].SkipsPrivate = true, true
	describe := func(p *Plan) (got []string) {
		for _, task := range p.Tasks {
			line := task.ID()
			for _, d := range task.Deps {
				line += " after " + d.Task.ID()
			}
			for _, d := range task.Sources {
				line += " with " + d.Name
			}
			got = append(got, line)
		}
		slices.Sort(got)
		return got
	}
	p, _ := build(t, workspace(app, leaf, mid), Request{})
	if diff := cmp.Diff([]string{"app:test with mid", "leaf:build", "mid:build", "mid:test after leaf:build with leaf"}, describe(p)); diff != "" {
		t.Error(diff)
	}
	p, _ = build(t, workspace(app, leaf, mid), Request{Tasks: []string{"mid:build"}, Args: []string{"--tests"}})
	if diff := cmp.Diff([]string{"leaf:build", "mid:build after leaf:build with leaf"}, describe(p)); diff != "" {
		t.Error(diff)
	}
	mid.Config = &dish.Settings{Tasks: []dish.TaskSettings{{Name: "build", Cwd: "sub"}}}
	p, _ = build(t, workspace(app, leaf, mid), Request{Tasks: []string{"mid:build"}})
	if diff := cmp.Diff([]string{"leaf:build", "mid:build after leaf:build with leaf"}, describe(p)); diff != "" {
		t.Error("in another directory: ", diff)
	}
}
