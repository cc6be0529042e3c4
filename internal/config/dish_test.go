package config

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/dish"
)

func TestLoadDishes(t *testing.T) {
	root := write(t, map[string]string{
		"bento.toml": "[toolchain]\ngo = \"1.20\"\nnode = \"20\"\n",
		"api/dish.toml": `name = "api"
language = "go"
inputs = ["proto/**", "!proto/old/**", "//shared/*.yaml"]
outputs = ["bin/"]
depends_on = ["lib", { dish = "ui", via = "outputs" }, { dish = "x" }]
force_independent = true
[toolchain]
go = "1.22"
use_system = true
[tasks.build]
run = "make"
inputs = []
outputs = ["bin/api"]
workspace_outputs = ["dist/**"]
env = ["GOOS"]
pass_env = ["SECRET_*"]
depends_on = ["gen", "lib:build", "^build"]
timeout = "10m"
cwd = "../tools"
retry = 2
mutex = "db"
weight = 2
cache = false
[tasks."db:up"]
run = ["docker", "compose up"]
env = { A = "1", B = "" }
persistent = true
ci = true
incremental = true
side_effects = true
timeout = 5
[tasks.lint]
`,
		"dish.toml": "",
	})
	w, problems := Load(root, "")
	dishes, more := w.LoadDishes([]Found{{Dir: "api"}, {Dir: "."}}, nil)
	if len(problems)+len(more) > 0 {
		t.Fatal(problems, more)
	}
	at := func(line, col int) diagnostics.Pos {
		return diagnostics.Pos{File: "api/dish.toml", Line: line, Col: col}
	}
	no, yes := false, true
	want := dish.Settings{
		Path: "api", Pos: at(1, 1), Name: dish.Text{Text: "api", Pos: at(1, 8)}, Language: dish.Text{Text: "go", Pos: at(2, 12)},
		Inputs:           []dish.Glob{{Text: "proto/**", Pos: at(3, 11)}, {Text: "!proto/old/**", Pos: at(3, 23)}, {Text: "//shared/*.yaml", Pos: at(3, 40)}},
		Outputs:          []dish.Glob{{Text: "bin/", Pos: at(4, 12)}},
		DependsOn:        []dish.Dependency{{Dish: "lib", Via: "", Pos: at(5, 15)}, {Dish: "ui", Via: "outputs", Pos: at(5, 22)}, {Dish: "x", Via: "", Pos: at(5, 56)}},
		ForceIndependent: true,
		Toolchain: dish.Toolchain{
			Pins:      map[string]dish.Pin{"go": {Version: "1.22", Pos: at(8, 6)}, "node": {Version: "20", Pos: diagnostics.Pos{File: "bento.toml", Line: 3, Col: 8}}},
			UseSystem: true,
		},
		Tasks: []dish.TaskSettings{
			{
				Name: "build", Pos: at(10, 8), Run: "make", Cwd: "../tools",
				Inputs: &[]dish.Glob{}, Outputs: &[]dish.Glob{{Text: "bin/api", Pos: at(13, 12)}}, WorkspaceOutputs: &[]dish.Glob{{Text: "dist/**", Pos: at(14, 22)}},
				Env: []string{"GOOS"}, PassEnv: []string{"SECRET_*"},
				DependsOn: []dish.Text{{Text: "gen", Pos: at(17, 15)}, {Text: "lib:build", Pos: at(17, 22)}, {Text: "^build", Pos: at(17, 35)}},
				Timeout:   10 * time.Minute, Retry: 2, Mutex: "db", Weight: 2, Cache: &no,
			},
			{
				Name: "db:up", Pos: at(24, 8), Argv: []string{"docker", "compose up"}, SetEnv: map[string]string{"A": "1", "B": ""},
				Timeout: 5 * time.Second, Persistent: &yes, CI: true, Incremental: true, SideEffects: true,
			},
			{Name: "lint", Pos: at(32, 8)},
		},
	}
	if diff := cmp.Diff(&want, dishes[0]); diff != "" {
		t.Error(diff)
	}
	if d := dishes[1]; d.Path != "." || d.Pos.File != "dish.toml" || d.Toolchain.Pins["go"].Version != "1.20" {
		t.Errorf("root: %+v", d)
	}
}

func TestLoadDishesTellsAllProblems(t *testing.T) {
	root := write(t, map[string]string{
		"a/dish.toml": "name = 'a'\nrun = \n",
		"b/dish.toml": `name = "b/c"
language = ""
outputs = [".", "**"]
depends_on = [1, "", { dish = "x", via = "output" }, { dsh = "x" }]
[tasks]
plain = "make"
[tasks.""]
[tasks."^x"]
run = "x"
[tasks.t]
run = " "
rum = "x"
outputs = ["./"]
env = "A"
depends_on = ["", "^", 3]
timeout = "0s"
cwd = "../.."
retry = -1
weight = 0
[tasks.u]
run = []
cwd = "/abs"
env = { "A=B" = "1", C = 2 }
[tasks.v]
run = [1]
env = ["A=B", 1]
[[garnishes]]
name = "slack"
run = "x"
[serve]
run = "x"
[integrations.railway]
anything = true
`,
		"c/dish.toml": "package_manager = \"npm\"\n[toolchain]\nallow_download = true\n",
	})
	w, _ := Load(root, "")
	_, problems := w.LoadDishes([]Found{{Dir: "a"}, {Dir: "b"}, {Dir: "c"}, {Dir: "none"}}, nil)
	want := []string{
		`error toml_syntax a/dish.toml:2:7: unexpected character U+000A at start of value`,
		`error invalid_name b/dish.toml:1:8: "b/c" cannot be the name of a dish: it holds a path separator (use letters, digits, - and _)`,
		`error invalid_value b/dish.toml:2:12: language is empty, expected an adapter's id or "none"`,
		`error invalid_glob b/dish.toml:3:12: output glob "." takes every file, sources too; expected the directory that is made`,
		`error invalid_glob b/dish.toml:3:17: output glob "**" takes every file, sources too; expected the directory that is made`,
		`error wrong_type b/dish.toml:4:15: depends_on[0] is an integer, expected a dish's name or {dish = "…", via = "outputs"}`,
		`error invalid_value b/dish.toml:4:18: depends_on[1] names no dish`,
		`error invalid_value b/dish.toml:4:42: "output" is not valid, expected "sources" or "outputs" (did you mean "outputs"?)`,
		`error unknown_key b/dish.toml:4:56: unknown key dsh in depends_on[3] (did you mean "dish"?)`,
		`error wrong_type b/dish.toml:6:9: tasks.plain is a string, expected a table`,
		`error invalid_name b/dish.toml:7:8: "" cannot be the name of a task: expected a name without control characters and without blanks at its ends, not starting with "-" or "^"`,
		`error invalid_name b/dish.toml:8:8: "^x" cannot be the name of a task: expected a name without control characters and without blanks at its ends, not starting with "-" or "^"`,
		`error invalid_value b/dish.toml:11:7: tasks.t.run is empty, expected a command`,
		`error unknown_key b/dish.toml:12:1: unknown key rum in tasks.t (did you mean "run"?)`,
		`error invalid_glob b/dish.toml:13:12: output glob "./" takes every file, sources too; expected the directory that is made`,
		`error wrong_type b/dish.toml:14:7: tasks.t.env is a string, expected names ["A", "B"] or values {A = "1"}`,
		`error invalid_value b/dish.toml:15:15: depends_on "" names no task, expected "task", "dish:task" or "^task"`,
		`error invalid_value b/dish.toml:15:19: depends_on "^" names no task, expected "task", "dish:task" or "^task"`,
		`error wrong_type b/dish.toml:15:24: tasks.t.depends_on[2] is an integer, expected a string`,
		`error invalid_value b/dish.toml:16:11: tasks.t.timeout is not valid, expected a time such as "90s", "10m", "30d", or seconds`,
		`error invalid_path b/dish.toml:17:7: cwd "../.." leads out of the workspace`,
		`error invalid_value b/dish.toml:18:9: retry is -1, expected 0 to 100`,
		`error invalid_value b/dish.toml:19:10: weight is 0, expected 1 to 1024`,
		`error invalid_value b/dish.toml:21:7: tasks.u.run is empty, expected a command`,
		`error invalid_path b/dish.toml:22:7: cwd "/abs" is absolute, expected a directory relative to the dish`,
		`error invalid_value b/dish.toml:23:9: "A=B" is no name of a variable, expected NAME`,
		`error wrong_type b/dish.toml:23:26: tasks.u.env.C is an integer, expected a string`,
		`error wrong_type b/dish.toml:25:8: tasks.v.run[0] is an integer, expected a string`,
		`error invalid_value b/dish.toml:26:8: "A=B" is no name of a variable, expected a name or PREFIX_*`,
		`error wrong_type b/dish.toml:26:15: tasks.v.env[1] is an integer, expected the name of a variable`,
		`warning unsupported_key b/dish.toml:27:3: garnishes has no effect in bento (write a task, [tasks.NAME], which others name in depends_on)`,
		`warning unsupported_key b/dish.toml:30:2: serve has no effect in bento (write [tasks.dev] with run and persistent = true; bento watch restarts it after changes)`,
		`warning unsupported_key b/dish.toml:32:2: integrations has no effect in bento (write a task, [tasks.NAME], which others name in depends_on)`,
		`warning unsupported_key c/dish.toml:1:1: package_manager has no effect in bento (bento takes it from the lockfile, or packageManager in package.json)`,
		`error invalid_value c/dish.toml:3:18: toolchain.allow_download applies to the whole workspace, required in bento.toml`,
		`error unreadable_file none/dish.toml: the file cannot be read: file does not exist`,
	}
	if diff := cmp.Diff(want, texts(problems)); diff != "" {
		t.Error(diff)
	}
}

func TestNames(t *testing.T) {
	for _, good := range []string{"a", "A b", "ü", "a.b", "1"} {
		if p := checkName("dish", good, diagnostics.Pos{}); len(p) > 0 {
			t.Errorf("%q: %v", good, p)
		}
	}
	for _, bad := range []string{"", " ", " a", "a/b", `a\b`, "a:b", "a\nb", "\x7f", ".", "..", "-a"} {
		if p := checkName("dish", bad, diagnostics.Pos{}); len(p) == 0 {
			t.Errorf("%q is accepted", bad)
		}
	}
}

func FuzzDish(f *testing.F) {
	f.Add("name = \"a\"\nlanguage = \"go\"\ninputs = [\"a/**\", \"!b\"]\n[tasks.x]\nrun = [\"a\"]\nenv = {A = \"1\"}\n")
	f.Add("depends_on = [{dish = \"a\", via = \"outputs\"}]\n[toolchain]\ngo = \"1\"\n[tasks.\"a:b\"]\ntimeout = 3\ncwd = \"..\"\n")
	f.Add("[[garnishes]]\nname = 1\n[serve]\n[integrations.x]\ny = [1]\n")
	f.Fuzz(func(t *testing.T, text string) { checkLoad(t, "dish.toml", text) })
}

func FuzzWorkspace(f *testing.F) {
	f.Add("[workspace]\nexclude = [\"a\"]\n[defaults]\nenv = \"strict\"\n[cache]\nmax_size = \"1G\"\nmax_age = \"1d\"\nmode = \"local:r\"\n")
	f.Add("[plugins]\ndisable = [\"a\"]\n[plugins.x]\nsha256 = \"\"\n[toolchain]\ngo = \"1\"\non_mismatch = \"error\"\n")
	f.Add("[execution]\ncontainer = \"never\"\n[environments.a]\nsecrets = {A = \"b\"}\n[telemetry]\nenabled = false\n")
	f.Fuzz(func(t *testing.T, text string) { checkLoad(t, "bento.toml", text) })
}

// checkLoad loads a workspace with one file and checks its problems.
func checkLoad(t *testing.T, name, text string) {
	w, problems := Load(write(t, map[string]string{name: text}), "")
	var found []Found
	if name == dish.File {
		found = []Found{{Dir: "."}}
	}
	dishes, more := w.LoadDishes(found, nil)
	for _, d := range append(problems, more...) {
		if d.File != name || d.Message == "" || d.Rule == "" || d.Source != diagnostics.Source || d.Line < 0 {
			t.Fatalf("bad problem %+v", d)
		}
	}
	if len(problems)+len(more) > 1000 {
		t.Fatalf("%d problems", len(problems)+len(more))
	}
	if len(dishes) == 0 {
		return
	}
	for _, task := range dishes[0].Tasks {
		if len(diagnostics.Errors(more)) == 0 && (task.Run != "" && len(task.Argv) > 0 || task.Name == "") {
			t.Fatalf("bad task %+v", task)
		}
	}
}

func TestWordsOfOtherTools(t *testing.T) {
	root := write(t, map[string]string{
		"bento.toml":  "[workspace]\npackages = [\"a\"]\n",
		"a/dish.toml": "[tasks.t]\nrun = \"x\"\ncmd = \"x\"\noutputs = [\"o\"]\nouts = [\"o\"]\nsrcs = [\"i\"]\ndependsOn = [\"a\"]\n[scripts]\nbuild = \"x\"\n",
	})
	w, problems := Load(root, "")
	_, ofDishes := w.LoadDishes([]Found{{Dir: "a"}}, nil)
	want := []string{
		`error unknown_key bento.toml:2:1: unknown key packages in workspace (did you mean "include"?)`,
		`error unknown_key a/dish.toml:3:1: unknown key cmd in tasks.t (did you mean "run"?)`,
		`error unknown_key a/dish.toml:5:1: unknown key outs in tasks.t (did you mean "outputs"?)`,
		`error unknown_key a/dish.toml:6:1: unknown key srcs in tasks.t (did you mean "inputs"?)`,
		`error unknown_key a/dish.toml:7:1: unknown key dependsOn in tasks.t (did you mean "depends_on"?)`,
		`error unknown_key a/dish.toml:8:2: unknown key scripts (did you mean "tasks"?)`,
	}
	if diff := cmp.Diff(want, texts(append(problems, ofDishes...))); diff != "" {
		t.Error(diff)
	}
}
