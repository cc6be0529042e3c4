package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/adaptertest"
	"github.com/bentobuild/bento/internal/testrun"
)

// trap is a project with code that a tool runs when bento starts the tool in the project. In a file, CANARY is a
// path outside of the project that the code writes to, OUTSIDE is another directory there, and ROOT is the
// directory of the project. Files that begin with "#!" are executable; files below OUTSIDE/ are written to
// OUTSIDE. testdata/traps has a file for each trap, which begins with
//
//	needs TOOL…   the real tools that could run the code
//	env NAME=VALUE   a variable; a value of PATH is put in front
//	rustup        a rustup of the test, with two toolchains
//	tools DIR     the directory has a program with the name of each tool
//	key known     bento can run the tool safely, and a plan has the key
//	key late      only a program of the project knows the version: a plan has no key
type trap struct {
	name  string
	needs []string
	env   []string
	tools string
	rust  bool // has a rustup
	key   string
	files []txtar.File
}

const script = "#!/bin/sh\necho sprung >> CANARY\necho 1.2.3\n"

// tools returns the names of programs that bento or a tool may look up.
func tools() []string {
	return []string{"git", "go", "cargo", "rustc", "rustup", "uv", "python", "python3", "pip", "poetry", "ruby", "bundle", "php", "composer", "java",
		"mvn", "gradle", "deno", "bun", "node", "npm", "npx", "pnpm", "yarn", "corepack", "mise", "asdf", "direnv", "sh", "env", "cc", "gcc", "tsc", "eslint"}
}

// traps reads all traps, sorted by name.
func traps(t *testing.T) (list []*trap) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", "traps", "*.txtar"))
	if err != nil || len(paths) < 85 {
		t.Fatalf("%d traps, %v", len(paths), err)
	}
	for _, path := range paths {
		a, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		tr := &trap{name: strings.TrimSuffix(filepath.Base(path), ".txtar"), files: a.Files}
		for line := range strings.Lines(string(a.Comment)) {
			word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
			switch word {
			case "#", "":
			case "needs":
				tr.needs = strings.Fields(rest)
			case "env":
				tr.env = append(tr.env, rest)
			case "rustup":
				tr.rust = true
			case "tools":
				tr.tools = rest
			case "key":
				tr.key = rest
			default:
				t.Fatalf("%s: %q", path, line)
			}
		}
		for _, tool := range tools() {
			if tr.tools != "" {
				tr.files = append(tr.files, txtar.File{Name: tr.tools + "/" + tool, Data: []byte(script)})
			}
		}
		list = append(list, tr)
	}
	return list
}

// ground has the directories to which a trap is written.
type ground struct{ root, canary, outside string }

func (g ground) replace(text string) string {
	return strings.NewReplacer("CANARY", g.canary, "ROOT", g.root, "OUTSIDE", g.outside).Replace(text)
}

// lay writes the files of a trap.
func (tr *trap) lay(t *testing.T, g ground) {
	t.Helper()
	for _, f := range tr.files {
		path := filepath.Join(g.root, g.replace(f.Name))
		if rest, ok := strings.CutPrefix(f.Name, "OUTSIDE/"); ok {
			path = filepath.Join(g.outside, rest)
		}
		adaptertest.Write(t, path, g.replace(string(f.Data)))
		if bytes.HasPrefix(f.Data, []byte("#!")) {
			if err := os.Chmod(path, 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// alone writes a trap to its own workspace, and returns the directories and the environment of commands there.
func (tr *trap) alone(t *testing.T, base string) (g ground, env adapters.Environ) {
	t.Helper()
	g = ground{filepath.Join(base, "ws"), filepath.Join(base, "canary"), filepath.Join(base, "outside")}
	adaptertest.Write(t, filepath.Join(g.root, "bento.toml"), "")
	tr.lay(t, g)
	adaptertest.Write(t, filepath.Join(g.root, ".git", "HEAD"), "")
	if err := os.MkdirAll(filepath.Join(base, "home"), 0o755); err != nil {
		t.Fatal(err)
	}
	env = adaptertest.Env(
		"HOME="+filepath.Join(base, "home"), "BENTO_CACHE_DIR="+filepath.Join(base, "cache"), "XDG_CACHE_HOME="+filepath.Join(base, "home", ".cache"),
		"CARGO_HOME="+realHome(t, "CARGO_HOME", ".cargo"), "RUSTUP_HOME="+realHome(t, "RUSTUP_HOME", ".rustup"), "PYENV_ROOT="+realHome(t, "PYENV_ROOT", ".pyenv"),
		"RUSTUP_TOOLCHAIN=", "JAVA_HOME=", "GOFLAGS=",
	)
	if tr.rust {
		env = adaptertest.Rustup(t, filepath.Join(base, "home"), env)
	}
	for _, kv := range tr.env {
		name, value, _ := strings.Cut(g.replace(kv), "=")
		if name == "PATH" {
			value += string(filepath.ListSeparator) + env.Get("PATH")
		}
		env = env.With(map[string]string{name: value})
	}
	return g, env
}

// realHome returns the home directory of a tool of this machine.
func realHome(t *testing.T, variable, name string) string {
	t.Helper()
	if dir := os.Getenv(variable); dir != "" {
		return dir
	}
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(home, name)
}

// prepare makes files that a txtar archive cannot have: links, and shims that a tool makes.
func (tr *trap) prepare(t *testing.T, root string) {
	t.Helper()
	outside := filepath.Join(filepath.Dir(root), "outside")
	for _, kv := range tr.env {
		switch kv {
		case "PATH=OUTSIDE/corepack":
			dir := filepath.Join(outside, "corepack")
			if err := os.MkdirAll(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			if out, err := exec.Command("corepack", "enable", "--install-directory", dir, "pnpm", "yarn").CombinedOutput(); err != nil {
				t.Fatalf("corepack: %v\n%s", err, out)
			}
		case "PATH=OUTSIDE/yarn1":
			yarn1, err := exec.LookPath("yarn1")
			if err != nil {
				t.Fatal(err)
			}
			link(t, yarn1, filepath.Join(outside, "yarn1", "yarn"))
		case "PATH=OUTSIDE/link":
			link(t, filepath.Join(root, "bin", "python3"), filepath.Join(outside, "link", "python3"))
		}
	}
}

func link(t *testing.T, to, at string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(to, at); err != nil {
		t.Fatal(err)
	}
}

// TestLookingSpringsNoTrap: commands that only look start no program that the repository chooses. They report
// when only such a program knows the toolchain.
func TestLookingSpringsNoTrap(t *testing.T) {
	if !testrun.Alone(t) {
		return
	}
	for _, tr := range traps(t) {
		if tr.key == "" {
			continue // TestHostileDishes tries it
		}
		t.Run(tr.name, func(t *testing.T) {
			adaptertest.Need(t, tr.needs...)
			g, env := tr.alone(t, adaptertest.Project(t, ""))
			tr.prepare(t, g.root)
			plan := onlyLook(t, g.root, env, "plan")
			task := plan.first(t)
			for _, args := range [][]string{
				{"why", task.Dish + ":" + task.Name}, {"doctor"}, {"toolchain", "list"}, {"toolchain", "check"}, {"dish", "list"},
				{"graph"}, {"artifacts"}, {"plan", "--no-cache"}, {"ext", "list"}, {"tool", "list"}, {"tool", "info", "evil"},
			} {
				onlyLook(t, g.root, env, args...)
			}
			if text, err := os.ReadFile(g.canary); err == nil {
				t.Errorf("the trap was sprung: %s", text)
			}
			switch late := tr.key == "late"; {
			case late && (task.Key != nil || task.MissReason != "toolchain_pending" || len(task.Notes) == 0):
				t.Errorf("only the project knows, and the plan says %+v", task)
			case !late && task.Key == nil:
				t.Errorf("the tool could be asked, and the plan says %+v", task)
			}
		})
	}
}

// looked has the parts of a plan that these tests need.
type looked struct {
	Bentos []struct {
		Dishes []struct {
			Name  string
			Tasks []lookedTask
		}
	}
	said string
}

type lookedTask struct {
	Dish, Name string
	Key        *string
	MissReason string `json:"miss_reason"`
	Notes      []string
}

func (l *looked) first(t *testing.T) lookedTask {
	t.Helper()
	for _, b := range l.Bentos {
		for _, d := range b.Dishes {
			for _, task := range d.Tasks {
				task.Dish = d.Name
				return task
			}
		}
	}
	t.Fatalf("there is no task\n%s\n%+v", l.said, l)
	return lookedTask{}
}

// onlyLook runs a command with --json and returns its document. The command may fail.
func onlyLook(t *testing.T, root string, env adapters.Environ, args ...string) *looked {
	t.Helper()
	var out, said bytes.Buffer
	args = append(args, "--json", "-C", root)
	code := execute(t.Context(), args, process{out: &out, err: &said, environ: env})
	doc := &looked{said: said.String()}
	if err := json.Unmarshal(out.Bytes(), doc); err != nil || code == exitFault {
		t.Errorf("%q: exit %d, %v\n%s%s", args, code, err, &out, &said)
	}
	return doc
}
