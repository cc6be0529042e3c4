package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bentobuild/bento/internal/dish"
)

// loadText loads a workspace whose bento.toml and app/dish.toml have these texts.
func loadText(t *testing.T, workspace, settings string) (*Workspace, *dish.Settings, []string) {
	t.Helper()
	root := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, "app"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{dish.WorkspaceFile: workspace, "app/" + dish.File: settings} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	w, problems := Load(root, "")
	dishes, more := w.LoadDishes([]Found{{Dir: "app"}}, nil)
	var found []string
	for _, d := range append(problems, more...) {
		found = append(found, strings.TrimSpace(d.Where()+" "+d.Message+" | "+d.Hint))
	}
	return w, dishes[0], found
}

func TestTools(t *testing.T) {
	w, _, problems := loadText(t, `[tools]
disable = ["old"]
[tools."acme.fmt"]
command = ["python3", "tools/fmt.py"]
capabilities = ["fs.read"]
timeout = "20s"
launch = "4s"
handshake = "3s"
teardown = "1s"
env = ["TOKEN"]
[tools.json]
wasm = "./tools/json.wasm"
allowed_hosts = ["example.org", "example.org:8443"]
limits = { memory = "32MiB", module = 1000, output = "1kB", fuel = 5 }
env = { A = "b" }
[tools.pack]
package = "acme-fmt@1.2"
[tools.onpath]
capabilities = ["a"]
`, "")
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	f, j, on := w.Tools.ByID["acme.fmt"], w.Tools.ByID["json"], w.Tools.ByID["onpath"]
	if len(f.Command) != 2 || f.Command[1].Text != "tools/fmt.py" || f.Command[1].Pos.Line != 4 || f.Timeout.Seconds() != 20 || f.Launch.Seconds() != 4 || f.Handshake.Seconds() != 3 || f.Teardown.Seconds() != 1 || f.Env[0] != "TOKEN" || f.Capabilities[0] != "fs.read" {
		t.Errorf("acme.fmt: %+v", f)
	}
	if j.Wasm.Text != "tools/json.wasm" || j.Limits != (ToolLimits{32 << 20, 1000, 1000, 5}) || len(j.AllowedHosts) != 2 || j.SetEnv["A"] != "b" {
		t.Errorf("json: %+v", j)
	}
	if w.Tools.ByID["pack"].Package.Text != "acme-fmt@1.2" || on.Declares() || !f.Declares() || !j.Declares() || w.Tools.Disable[0].Text != "old" {
		t.Errorf("%+v", w.Tools)
	}
}

// TestToolFaults: each fault is reported at its place, with what was expected.
func TestToolFaults(t *testing.T) {
	long := strings.Repeat("x", 101)
	for _, c := range []struct{ workspace, want string }{
		{"tools = 1", "bento.toml:1:9 tools is an integer, expected a table"},
		{"[tools]\nnope = 1", "bento.toml:2:1 unknown key nope in tools | known: allowlist, dev_dir, dir, disable, module_hash_policy"},
		{"[tools]\ndisable = [\"A\"]", `bento.toml:2:12 "A" is no id of a tool`},
		{"[tools.Bad]\ncommand = [\"x\"]", `bento.toml:1:8 "Bad" is no id of a tool, expected [a-z0-9][a-z0-9._-]*`},
		{"[tools.\"a..b\"]\ncommand = [\"x\"]", `is no id of a tool`},
		{"[tools." + long + "]\ncommand = [\"x\"]", `is no id of a tool`},
		{"[tools.bento-tool-x]\ncommand = [\"x\"]", `the id is what follows "bento-tool-": "x"`},
		{"[tools.\"a:b\"]\ncommand = [\"x\"]", `the function follows in the task`},
		{"[tools.x]\ncommand = \"sh x\"", `bento.toml:2:11 tools.x.command is a string, expected an array of words`},
		{"[tools.x]\ncommand = []", `tools.x.command is empty`},
		{"[tools.x]\ncommand = [\"\"]", `tools.x.command is empty`},
		{"[tools.x]\ncommand = [\"a\\u0000\"]", `holds a NUL byte`},
		{"[tools.x]\ncommand = [\"a\"]\nwasm = \"a.wasm\"", `bento.toml:1:8 tools.x has command and wasm, expected exactly one of command, wasm and package`},
		{"[tools.x]\nwasm = \"../a.wasm\"", `wasm: path "../a.wasm" leads upwards`},
		{"[tools.x]\nwasm = \"/a.wasm\"", `wasm: path "/a.wasm" is absolute`},
		{"[tools.x]\nwasm = \"a.exe\"", `wasm: "a.exe" does not end in .wasm`},
		{"[tools.x]\npackage = \"a@../b\"", `package "a@../b" is no package`},
		{"[tools.x]\npackage = \"a@\"", `is no package`},
		{"[tools.x]\ncommand = [\"a\"]\nallowed_hosts = [\"a\"]", `allowed_hosts applies to modules`},
		{"[tools.x]\nwasm = \"a.wasm\"\nallowed_hosts = [\"http://a\"]", `"http://a" is no host`},
		{"[tools.x]\nwasm = \"a.wasm\"\ncapabilities = [\"a\", \"a\"]", `the capability "a" is named twice`},
		{"[tools.x]\nwasm = \"a.wasm\"\ncapabilities = [\" a\"]", `" a" is no capability`},
		{"[tools.x]\nwasm = \"a.wasm\"\nlimits = { fuel = 0 }", `limits.fuel is 0`},
		{"[tools.x]\nwasm = \"a.wasm\"\nlimits = { memry = 1 }", `did you mean`},
		{"[tools.x]\nwasm = \"a.wasm\"\nsha256 = \"beef\"", `sha256 "beef" is no digest`},
		{"[tools.x]\ncomand = [\"a\"]", `did you mean`},
	} {
		if _, _, problems := loadText(t, c.workspace, ""); !strings.Contains(strings.Join(problems, "\n"), c.want) {
			t.Errorf("%s\ngot  %q\nwant %q", c.workspace, problems, c.want)
		}
	}
}

// TestToolTask: a table becomes JSON in the order of the file.
func TestToolTask(t *testing.T) {
	_, d, problems := loadText(t, "", `[tasks.lint]
tool = "acme.fmt:fmt.check"
input = { z = "${inputs}", "a b" = ["x/${dish}", true, 3, 1.5, { n = "\"<>" }], out = "${out}/gen" }
outputs = ["gen"]
[tasks.test]
run = "true"
parser = "tool:acme.report:parse"
`)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	lint := d.Tasks[0]
	if want := `{"z":"${inputs}","a b":["x/${dish}",true,3,1.5,{"n":"\"\u003c\u003e"}],"out":"${out}/gen"}`; lint.Input != want {
		t.Errorf("got  %s\nwant %s", lint.Input, want)
	}
	if id, function := dish.CutTool(lint.Tool.Text); id != "acme.fmt" || function != "fmt.check" || strings.Join(lint.Uses, " ") != "${inputs} ${dish} ${out}" {
		t.Errorf("%+v", lint)
	}
	if d.Tasks[1].Parser.Text != "tool:acme.report:parse" {
		t.Errorf("%+v", d.Tasks[1])
	}
}

func TestToolTaskFaults(t *testing.T) {
	for _, c := range []struct{ task, want string }{
		{`run = "x"` + "\n" + `tool = "a:b"`, `app/dish.toml:3:8 tool and run exclude each other`},
		{`tool = "A:b"`, `"A:b" names no tool`},
		{`tool = "a:"`, `"a:" names no function`},
		{`tool = 1`, `expected a string`},
		{`run = "x"` + "\n" + `input = { a = 1 }`, `input applies to tasks that call a tool`},
		{`tool = "a"` + "\n" + `input = "x"`, `tasks.t.input is a string, expected a table`},
		{`tool = "a"` + "\n" + `input = { a = "-${inputs}" }`, `app/dish.toml:3:15 tasks.t.input.a has ${inputs} inside a longer string`},
		{`tool = "a"` + "\n" + `input = { a = "${input}" }`, `did you mean "${inputs}"`},
		{`tool = "a"` + "\n" + `input = { a = "${open" }`, `tasks.t.input.a has "${open", expected`},
		{`tool = "a"` + "\n" + `input = { a = [1, inf] }`, `app/dish.toml:3:19 tasks.t.input.a[1] is +Inf, which JSON cannot express`},
		{`tool = "a"` + "\n" + `input = { a = nan }`, `which JSON cannot express`},
		{`tool = "a"` + "\n" + `input = { a = 2020-01-01 }`, `write a date as a string`},
		{`tool = "a"` + "\n" + `input = { "${dish}" = 1 }`, `has ${, expected it in values only`},
		{`tool = "a"` + "\n" + `input = { a = ` + strings.Repeat("[", 70) + strings.Repeat("]", 70) + ` }`, `is nested too deeply`},
		{`tool = "a"` + "\n" + `input = { a = "` + strings.Repeat("<", 200_000) + `" }`, `bytes as JSON, expected at most 1048576`},
		{`tool = "a"` + "\n" + `cwd = "b"`, `tool and cwd exclude each other`},
		{`tool = "a"` + "\n" + `persistent = true`, `tool and persistent exclude each other`},
		{`tool = "a"` + "\n" + `interactive = true`, `tool and interactive exclude each other`},
		{`tool = "a"` + "\n" + `env = ["A"]`, `tool and env exclude each other`},
		{`tool = "a"` + "\n" + `pass_env = ["A"]`, `tool and pass_env exclude each other`},
		{`tool = "a"` + "\n" + `env_files = [".env"]`, `tool and env_files exclude each other`},
		{`parser = "gcc"`, `parser "gcc" is no tool, expected "tool:id:function"`},
		{`parser = "tool:A"`, `"A" names no tool`},
	} {
		if _, _, problems := loadText(t, "", "[tasks.t]\n"+c.task+"\n"); !strings.Contains(strings.Join(problems, "\n"), c.want) {
			t.Errorf("%.200s\ngot  %.600q\nwant %q", c.task, problems, c.want)
		}
	}
}

// TestToolLock: the lock file pins tools of PATH that bento.toml does not pin.
func TestToolLock(t *testing.T) {
	root := t.TempDir()
	a, b := strings.Repeat("a", 64), strings.Repeat("b", 64)
	for name, text := range map[string]string{
		dish.WorkspaceFile: "[tools.own]\nsha256 = \"" + a + "\"\n",
		LockFile:           "[tools]\nown = \"" + b + "\"\n\"acme.fmt\" = \"" + b + "\"\nBAD = \"" + b + "\"\n",
	} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	w, problems := Load(root, "")
	for id, want := range map[string]string{"own": a, "acme.fmt": b, "other": ""} {
		if got := w.Tools.PinOf(id).Text; got != want {
			t.Errorf("%s: got %q, want %q", id, got, want)
		}
	}
	if len(problems) != 1 || problems[0].Line != 4 {
		t.Errorf("problems: %v", problems)
	}
}

// TestHashPolicy: only the user's own file can loosen the policy for installed packages. For packages of a workspace,
// the stricter policy of both files applies.
func TestHashPolicy(t *testing.T) {
	for _, c := range []struct {
		said, own            string
		signed               bool
		installed, workspace string
	}{
		{"", "", false, HashEnforce, HashWarn},
		{HashSkip, "", false, HashEnforce, HashSkip},
		{HashEnforce, "", false, HashEnforce, HashEnforce},
		{"", HashSkip, false, HashSkip, HashWarn},
		{HashSkip, HashWarn, false, HashWarn, HashWarn},
		{HashSkip, HashSkip, false, HashSkip, HashSkip},
		{HashWarn, HashEnforce, false, HashEnforce, HashEnforce},
		{HashSkip, HashSkip, true, HashEnforce, HashEnforce},
	} {
		w := &Workspace{Tools: Tools{HashPolicy: c.said}, Trust: Trust{HashPolicy: c.own, RequireSigned: c.signed}}
		if i, b := w.HashPolicy(true), w.HashPolicy(false); i != c.installed || b != c.workspace {
			t.Errorf("bento.toml %q, own %q, signed %v: installed %q, of the workspace %q, want %q and %q", c.said, c.own, c.signed, i, b, c.installed, c.workspace)
		}
	}
}
