package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/tomlfile"
)

// write writes a workspace with files and returns its root.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// texts returns problems one a line: "error rule place: message (hint)".
func texts(problems []diagnostics.Diagnostic) []string {
	var out []string
	for _, d := range problems {
		s := string(d.Severity) + " " + d.Rule + " " + d.String()
		if d.Hint != "" {
			s += " (" + d.Hint + ")"
		}
		out = append(out, s)
	}
	return out
}

func TestLoadDefaults(t *testing.T) {
	for name, files := range map[string]map[string]string{"no file": {}, "empty file": {"bento.toml": ""}} {
		t.Run(name, func(t *testing.T) {
			root := write(t, files)
			w, problems := Load(root, "")
			if len(problems) > 0 {
				t.Fatal(problems)
			}
			want := &Workspace{
				Root: root, Discover: true, Defaults: defaults{FailFast: true, Observe: dish.ObserveAuto},
				Cache: defaultCache(),
			}
			if diff := cmp.Diff(want, w); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestLoadEverything(t *testing.T) {
	root := write(t, map[string]string{
		"bento.toml": `
[workspace]
discover = true
exclude = ["third_party/**", "!third_party/ours"]
[defaults]
parallelism = 0
fail_fast = false
env = "inherit"
pass_env = ["AWS_*", "EDITOR"]
[cache]
dir = ".bento/cache"
max_size = "10GB"
max_age = "30d"
mode = "local:rw,remote:r"
[toolchain]
on_mismatch = "warning"
allow_download = true
go = "1.22"
rust = " stable "
[plugins]
disable = ["zig"]
allowlist = []
sandbox = "required"
lazy = true
[plugins.noop]
pass_env = ["NOOP_*"]
sha256 = "` + strings.Repeat("Ab", 32) + `"
sandbox = "auto"
read = ["/srv/sdk/", "~/.noop"]
write = ["~"]
`,
		"bentos/z.toml":        "name = \"a\"\ndishes = [\"./x/\", \"apps/*\", \".\"]\n",
		"bentos/b.toml":        "name = \"b\"\ndishes = []\n",
		"bentos/ignored.txt":   "not TOML",
		"bentos/deep/no.toml":  "not TOML",
		"bentos/.#locked.toml": "not TOML",
	})
	w, problems := Load(root, "")
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	at := func(line, col int) diagnostics.Pos { return diagnostics.Pos{File: "bento.toml", Line: line, Col: col} }
	in := func(line, col int) diagnostics.Pos {
		return diagnostics.Pos{File: "bentos/z.toml", Line: line, Col: col}
	}
	want := &Workspace{
		Root: root, Discover: true,
		Exclude:  []dish.Glob{{Text: "third_party/**", Pos: at(4, 12)}, {Text: "!third_party/ours", Pos: at(4, 30)}},
		Defaults: defaults{Observe: dish.ObserveAuto, Parallelism: 1, InheritEnv: true, PassEnv: []string{"AWS_*", "EDITOR"}},
		Cache: cache{
			Dir: filepath.Join(root, ".bento/cache"), MaxSize: 10e9, MaxAge: 30 * 24 * time.Hour,
			Mode: CacheMode{Local: tierAccess{Read: true, Write: true}, Remote: tierAccess{Read: true}}, Remote: defaultRemote(),
		},
		Toolchain: dish.Toolchain{
			Pins:       map[string]dish.Pin{"go": {Version: "1.22", Pos: at(18, 6)}, "rust": {Version: "stable", Pos: at(19, 8)}},
			OnMismatch: diagnostics.Warning, AllowDownload: true,
		},
		Plugins: Plugins{
			Disable: []dish.Text{{Text: "zig", Pos: at(21, 12)}}, Restrict: true, Sandbox: dish.Text{Text: "required", Pos: at(23, 11)}, Lazy: true,
			ByID: map[string]Plugin{"noop": {
				Pos: at(25, 10), PassEnv: []string{"NOOP_*"}, SHA256: dish.Text{Text: strings.Repeat("ab", 32), Pos: at(27, 10)}, Sandbox: dish.Text{Text: "auto", Pos: at(28, 11)},
				Read: []dish.Text{{Text: "/srv/sdk", Pos: at(29, 9)}, {Text: "~/.noop", Pos: at(29, 22)}}, Write: []dish.Text{{Text: "~", Pos: at(30, 10)}},
			}},
		},
		Bentos: []Bento{
			{Name: "a", Pos: in(1, 8), Dishes: []dish.Glob{{Text: "x", Pos: in(2, 11)}, {Text: "apps/*", Pos: in(2, 19)}, {Text: ".", Pos: in(2, 29)}}},
			{Name: "b", Pos: diagnostics.Pos{File: "bentos/b.toml", Line: 1, Col: 8}},
		},
	}
	if diff := cmp.Diff(want, w, cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
}

func TestDiscoverDefaultsToNoBentos(t *testing.T) {
	w, _ := Load(write(t, map[string]string{"bentos/a.toml": "name = \"a\"\ndishes = []\n"}), "")
	if w.Discover {
		t.Error("with bentos/ discovery is on by default")
	}
}

func TestLoadTellsAllProblemsOfAllFiles(t *testing.T) {
	root := write(t, map[string]string{
		"bento.toml": `
[workspce]
[workspace]
exclude = ["a[", "/abs", "../up", ""]
[defaults]
parallelism = "4"
env = "lax"
pass_env = ["*", "A B", 3]
[cache]
gha = "sometimes"
max_size = "ten"
max_age = "-1d"
mode = "local:x"
dir = ""
[toolchain]
go = 1.22
on_mismatch = "ignore"
[plugins]
disable = ["bento-adapter-zig", "Zig"]
sandbox = "required"
lazzy = true
[plugins.x]
sha256 = "12"
sandbox = "always"
pas_env = []
read = ["zig", "~root/x", "../a", 5]
[execution]
container = "auto"
[environments.prod]
secrets = {A = "B"}
extra = 1
`,
		"bentos/a.toml":     "name = \"same\"\ndishes = [\"/abs\", \"../up\", \"\", \"a[\", 5]\n",
		"bentos/b.toml":     "name = \"same\"\ndishs = []\n",
		"bentos/broken":     "",
		"bentos/c.toml":     "name = \n",
		"bentos/d.toml":     "dishes = []\n",
		"bentos/e.toml":     "name = \"a:b\"\ndishes = []\n",
		"bentos/dir.toml/x": "",
	})
	w, problems := Load(root, "")
	want := []string{
		`error invalid_path bentos/a.toml:2:11: dish path "/abs" is absolute, expected one relative to the workspace`,
		`error invalid_path bentos/a.toml:2:19: dish path "../up" leads upwards, expected no ".."`,
		`error invalid_path bentos/a.toml:2:28: dish path "" is empty`,
		`error invalid_glob bentos/a.toml:2:32: dish path "a[" does not parse: a bracket or brace is not closed, or it ends in a backslash`,
		`error wrong_type bentos/a.toml:2:38: dishes[4] is an integer, expected the path of a dish`,
		`error missing_key bentos/b.toml:1:1: the bento lists no dishes, expected dishes = ["…"]`,
		`error duplicate_name bentos/b.toml:1:8: two bentos are named "same", the other at bentos/a.toml:1:8`,
		`error unknown_key bentos/b.toml:2:1: unknown key dishs (did you mean "dishes"?)`,
		`error toml_syntax bentos/c.toml:1:8: unexpected character U+000A at start of value`,
		`error missing_key bentos/d.toml:1:1: the bento has no name, expected name = "…"`,
		`error unreadable_file bentos/dir.toml: the file cannot be read: it is no regular file but a directory`,
		`error invalid_name bentos/e.toml:1:8: "a:b" cannot be the name of a bento: it holds ":", which separates dish and task (use letters, digits, - and _)`,
		`error unknown_key bento.toml:2:2: unknown key workspce (did you mean "workspace"?)`,
		`error invalid_glob bento.toml:4:12: glob "a[" does not parse: a bracket or brace is not closed, or it ends in a backslash`,
		`error invalid_path bento.toml:4:18: glob "/abs" is absolute, expected one relative to the dish, or "//" and relative to the workspace`,
		`error invalid_path bento.toml:4:26: glob "../up" leads upwards, expected no ".."; "//" in front starts at the workspace root`,
		`error invalid_glob bento.toml:4:35: glob "" is empty`,
		`error wrong_type bento.toml:6:15: defaults.parallelism is a string, expected an integer`,
		`error invalid_value bento.toml:7:7: "lax" is not valid, expected "strict" or "inherit"`,
		`error invalid_value bento.toml:8:13: "*" passes every variable, expected a name or PREFIX_* (for everything say env = "inherit" in [defaults])`,
		`error invalid_value bento.toml:8:18: "A B" is no name of a variable, expected a name or PREFIX_*`,
		`error wrong_type bento.toml:8:25: defaults.pass_env[2] is an integer, expected the name of a variable`,
		`error wrong_type bento.toml:10:7: cache.gha is a string, expected true, false or "auto"`,
		`warning unsupported_key bento.toml:10:1: cache.gha has no effect in bento (save $BENTO_CACHE_DIR with actions/cache)`,
		`error invalid_value bento.toml:11:12: cache.max_size is not valid, expected a size such as "10GB", "500MiB", or bytes`,
		`error invalid_value bento.toml:12:11: cache.max_age is not valid, expected a time such as "90s", "10m", "30d", or seconds`,
		`error invalid_value bento.toml:13:8: cache.mode: "local:x": rights "x", expected r, w, rw or nothing`,
		`error invalid_path bento.toml:14:7: cache.dir "" is no path`,
		`error wrong_type bento.toml:16:6: toolchain.go is a float, expected a version in quotes, such as "1.22"`,
		`error invalid_value bento.toml:17:15: "ignore" is not valid, expected "error" or "warning"`,
		`error invalid_value bento.toml:19:12: "bento-adapter-zig" is no id of an adapter, expected [a-z0-9][a-z0-9_-]* (the id is what follows "bento-adapter-": "zig")`,
		`error invalid_value bento.toml:19:33: "Zig" is no id of an adapter, expected [a-z0-9][a-z0-9_-]*`,
		`error unknown_key bento.toml:21:1: unknown key lazzy in plugins (did you mean "lazy"?)`,
		`error invalid_value bento.toml:23:10: sha256 "12" is no digest, expected 64 hexadecimal digits`,
		`error invalid_value bento.toml:24:11: "always" is not valid, expected "off", "auto" or "required"`,
		`error unknown_key bento.toml:25:1: unknown key pas_env in plugins.x (did you mean "pass_env"?)`,
		`error invalid_path bento.toml:26:9: path "zig": expected an absolute one, or one that starts with "~/"`,
		`error invalid_path bento.toml:26:16: path "~root/x": expected an absolute one, or one that starts with "~/"`,
		`error invalid_path bento.toml:26:27: path "../a": expected an absolute one, or one that starts with "~/"`,
		`error wrong_type bento.toml:26:35: plugins.x.read[3] is an integer, expected a path`,
		`warning unsupported_key bento.toml:27:2: execution has no effect in bento (tasks run on this machine; write the container into the task's run)`,
		`error unsupported_key bento.toml:28:13: execution.container "auto" is not supported, expected "never" (remove the key or set it to "never"; tasks would run outside of any container)`,
		`warning unsupported_key bento.toml:29:2: environments has no effect in bento (name env_files, or set env, in [tasks.NAME] of dish.toml)`,
		`error unknown_key bento.toml:31:1: unknown key extra in environments.prod (known: secrets)`,
	}
	less := cmpopts.SortSlices(func(a, b string) bool { return a < b })
	if diff := cmp.Diff(want, texts(problems), less); diff != "" {
		t.Error(diff)
	}
	if len(w.Bentos) != 2 {
		t.Errorf("bentos: %v", w.Bentos)
	}
}

func TestLoadUnreadable(t *testing.T) {
	root := write(t, map[string]string{"bento.toml/x": ""})
	_, problems := Load(root, "")
	want := []string{`error unreadable_file bento.toml: the file cannot be read: it is no regular file but a directory`}
	if diff := cmp.Diff(want, texts(problems)); diff != "" {
		t.Error(diff)
	}
	root = write(t, map[string]string{"bento.toml": strings.Repeat("#", tomlfile.MaxConfig+1)})
	if _, problems := Load(root, ""); len(problems) != 1 || problems[0].Rule != tomlfile.RuleTooLarge {
		t.Errorf("a large file: %v", problems)
	}
}

func TestEntriesOfABentoAreBounded(t *testing.T) {
	bento := func(format string, n int) string {
		var b strings.Builder
		b.WriteString("name = \"all\"\ndishes = [\n")
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return b.String() + "]\n"
	}
	for text, want := range map[string][]string{
		bento("\"p/%d\",\n", 10_000): nil,
		bento("\"p/%d*\",\n", 2000):  nil,
		bento("\"p/%d*\",\n", 2001):  {`error too_many_entries bentos/all.toml:1: 2001 globs among dishes, expected at most 2000 (name many directories by one glob, or divide the project)`},
		bento("\"p%d\",\n", 100_001): {`error too_many_entries bentos/all.toml:1: 100001 entries of dishes, expected at most 100000 (name many directories by one glob, or divide the project)`},
	} {
		_, problems := Load(write(t, map[string]string{"bentos/all.toml": text}), "")
		if diff := cmp.Diff(want, texts(problems)); diff != "" {
			t.Error(diff)
		}
	}
}
