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
)

// trap is a workspace whose files have a tool run code of theirs when it is asked in
// there. CANARY in a file is a path outside of the workspace that the code writes to,
// OUTSIDE another directory there, and ROOT the workspace. Files that begin with "#!"
// are executable; those below OUTSIDE/ are laid there.
type trap struct {
	name  string
	needs []string // real tools
	env   []string // PATH=DIR is put in front
	files string
	// late says that only the project's own program knows the toolchain: a plan has no
	// key then.
	late bool
	// missing says that the tool that is asked for is not there.
	missing bool
}

const script = "#!/bin/sh\necho sprung >> CANARY\n"

func traps() []trap {
	const (
		pom    = "-- app/pom.xml --\n<project><modelVersion>4.0.0</modelVersion><groupId>g</groupId><artifactId>a</artifactId><version>1</version></project>\n"
		gradle = "-- app/settings.gradle --\nrootProject.name = 'a'\n-- app/build.gradle --\nplugins { id 'java' }\n"
		crate  = "-- app/Cargo.toml --\n[package]\nname = \"a\"\nversion = \"0.1.0\"\n-- app/src/lib.rs --\n"
		node   = "-- app/package.json --\n{\"name\": \"a\", \"scripts\": {\"build\": \"true\"}}\n"
		uv     = "-- app/pyproject.toml --\n[project]\nname = \"a\"\nversion = \"1\"\nrequires-python = \">=3.8\"\n[build-system]\nrequires = []\nbuild-backend = \"b\"\n-- app/uv.lock --\nversion = 1\n"
		pip    = "-- app/pyproject.toml --\n[project]\nname = \"a\"\nversion = \"1\"\n[build-system]\nrequires = []\nbuild-backend = \"b\"\n"
		gem    = "-- app/Gemfile --\nFile.write(\"CANARY\", \"x\")\n-- app/Rakefile --\ntask(:test) {}\n-- app/dish.toml --\nlanguage = \"ruby\"\n[tasks.build]\nrun = \"true\"\n"
		php    = "-- app/composer.json --\n{\"name\": \"a/a\", \"scripts\": {\"test\": \"true\"}}\n"
		java   = "-- jdk/bin/javac --\n" + script + "-- jdk/release --\nJAVA_VERSION=\"17\"\n-- jdk/bin/java --\n" + script + "echo 'openjdk version \"17\"' >&2\n"
		gomod  = "-- app/go.mod --\nmodule example.com/a\n\ngo 1.21\n-- app/a.go --\npackage a\n"
	)
	js := "require('fs').writeFileSync('CANARY', 'x')\n"
	return []trap{
		{name: "mvnw without properties", needs: []string{"mvn", "javac"}, late: true, files: pom + "-- app/mvnw --\n" + script + "echo Apache Maven 3.9.1\n"},
		{name: "jvm.config of Maven", needs: []string{"mvn", "javac"}, files: pom + "-- app/.mvn/jvm.config --\n-Xlog:gc:file=CANARY\n-- app/.mvn/maven.config --\n-l=CANARY\n"},
		{name: "MAVEN_ARGS and JAVA_TOOL_OPTIONS of the directory", needs: []string{"mvn", "javac"}, env: []string{"JAVA_TOOL_OPTIONS=-Xlog:gc:file=CANARY"}, files: pom},
		{name: "gradlew without properties", needs: []string{"gradle", "javac"}, late: true, files: gradle + "-- app/gradlew --\n" + script + "echo Gradle 8.1\n"},
		{name: "gradle.properties", needs: []string{"gradle", "javac"}, files: gradle + "-- app/gradle.properties --\norg.gradle.jvmargs=-Xlog:gc:file=CANARY\n"},
		{name: "JAVA_HOME in the workspace", needs: []string{"mvn", "javac"}, late: true, env: []string{"JAVA_HOME=ROOT/jdk"}, files: pom + java},
		{name: "JAVACMD in the workspace", needs: []string{"mvn", "javac"}, late: true, env: []string{"JAVACMD=ROOT/jdk/bin/java"}, files: pom + java},
		{name: "rust-toolchain.toml with a path", needs: []string{"rustup"}, late: true, files: crate + "-- app/rust-toolchain.toml --\n[toolchain]\npath = \"../tc\"\n-- tc/bin/rustc --\n" + script + "echo rustc 1.80.0\n-- tc/bin/cargo --\n" + script + "echo cargo 1.80.0\n-- tc/lib/x --\n"},
		{name: "rust-toolchain with a path as its name", needs: []string{"rustup"}, late: true, files: crate + "-- app/dish.toml --\n[toolchain]\nrust = \"1\"\n-- app/rust-toolchain.toml --\n[toolchain]\npath = \"ROOT/tc\"\n-- tc/bin/rustc --\n" + script + "-- tc/bin/cargo --\n" + script + "-- tc/lib/x --\n"},
		{name: "rustc of config.toml", needs: []string{"cargo"}, files: crate + "-- app/.cargo/config.toml --\n[build]\nrustc = \"ROOT/rustc\"\nrustc-wrapper = \"ROOT/rustc\"\n-- rustc --\n" + script},
		{name: "yarnPath", needs: []string{"yarn"}, late: true, files: node + "-- app/yarn.lock --\n__metadata:\n  version: 8\n-- app/.yarnrc.yml --\nyarnPath: ./trap.cjs\n-- app/trap.cjs --\n" + js + "console.log('4.0.0')\n"},
		{name: "yarnPath above", needs: []string{"yarn"}, late: true, files: node + "-- app/yarn.lock --\n__metadata:\n  version: 8\n-- .yarnrc.yml --\nyarnPath: ./trap.cjs\n-- trap.cjs --\n" + js + "console.log('4.0.0')\n"},
		{name: "plugins of yarn", needs: []string{"yarn"}, files: node + "-- app/yarn.lock --\n__metadata:\n  version: 8\n-- app/.yarnrc.yml --\nplugins:\n  - ./trap.cjs\n-- app/trap.cjs --\n" + js + "module.exports = {name: 'x', factory: () => ({})}\n"},
		{name: "yarn-path of yarn 1", needs: []string{"yarn1"}, env: []string{"PATH=OUTSIDE/yarn1"}, late: true, files: node + "-- app/yarn.lock --\n# yarn lockfile v1\n-- app/.yarnrc --\nyarn-path \"./trap.cjs\"\n-- app/trap.cjs --\n" + js + "console.log('1.0.0')\n"},
		{name: "pnpmfile", needs: []string{"pnpm"}, files: node + "-- app/pnpm-lock.yaml --\nlockfileVersion: '9.0'\n-- app/.pnpmfile.cjs --\n" + js + "module.exports = {}\n-- app/pnpm-workspace.yaml --\npackages: []\nconfigDependencies: {}\n"},
		{name: "packageManager of pnpm", needs: []string{"pnpm"}, files: "-- app/package.json --\n{\"name\": \"a\", \"packageManager\": \"pnpm@9.0.0\", \"scripts\": {\"build\": \"true\"}}\n-- app/pnpm-lock.yaml --\nlockfileVersion: '9.0'\n"},
		{name: "NODE_OPTIONS of the directory", needs: []string{"npm"}, env: []string{"NODE_OPTIONS=--require ./trap.cjs"}, files: node + "-- app/package-lock.json --\n{\"lockfileVersion\": 3}\n-- app/trap.cjs --\n" + js},
		{name: ".npmrc", needs: []string{"npm"}, files: node + "-- app/package-lock.json --\n{\"lockfileVersion\": 3}\n-- app/.npmrc --\nnode-options=--require ./trap.cjs\nscript-shell=ROOT/shell\nonload-script=./trap.cjs\n-- shell --\n" + script + "-- app/trap.cjs --\n" + js},
		{name: "npm of node_modules/.bin", needs: []string{"npm"}, env: []string{"PATH=ROOT/node_modules/.bin"}, late: true, files: node + "-- app/package-lock.json --\n{\"lockfileVersion\": 3}\n-- node_modules/.bin/npm --\n" + script + "echo 9.0.0\n"},
		{name: "node that a manager starts", needs: []string{"pnpm"}, env: []string{"PATH=ROOT/bin"}, late: true, files: node + "-- app/pnpm-lock.yaml --\nlockfileVersion: '9.0'\n-- bin/node --\n" + script + "echo v20.0.0\n"},
		{name: "corepack's environment", needs: []string{"corepack"}, env: []string{"PATH=OUTSIDE/corepack"}, late: true, files: "-- app/package.json --\n{\"name\": \"a\", \"packageManager\": \"pnpm@9.0.0\", \"scripts\": {\"build\": \"true\"}}\n-- app/.corepack.env --\nCOREPACK_HOME=ROOT/home\n-- home/v1/pnpm/9.0.0/.corepack --\n{\"locator\": {\"name\": \"pnpm\", \"reference\": \"9.0.0\"}, \"bin\": {\"pnpm\": \"./bin/pnpm.cjs\"}, \"hash\": \"sha1.x\"}\n-- home/v1/pnpm/9.0.0/bin/pnpm.cjs --\n" + js + "console.log('9.0.0')\n"},
		{name: "corepack and a URL", needs: []string{"corepack"}, env: []string{"PATH=OUTSIDE/corepack"}, late: true, files: "-- app/package.json --\n{\"name\": \"a\", \"packageManager\": \"pnpm@file://ROOT/trap.tgz\", \"scripts\": {\"build\": \"true\"}}\n-- app/pnpm-lock.yaml --\nlockfileVersion: '9.0'\n"},
		{name: "bunfig.toml", needs: []string{"bun"}, files: node + "-- app/bun.lock --\n{\"lockfileVersion\": 1}\n-- app/bunfig.toml --\npreload = [\"./trap.cjs\"]\n-- app/trap.cjs --\n" + js},
		{name: "deno.json", needs: []string{"deno"}, files: "-- app/deno.json --\n{\"tasks\": {\"build\": \"true\"}, \"preload\": [\"./trap.ts\"]}\n-- app/trap.ts --\nDeno.writeTextFileSync('CANARY', 'x')\n"},
		{name: "absolute .python-version of uv", needs: []string{"uv"}, late: true, files: uv + "-- app/.python-version --\nROOT/python\n-- python --\n" + script},
		{name: "relative .python-version of uv", needs: []string{"uv"}, late: true, files: uv + "-- app/.python-version --\n./python\n-- app/python --\n" + script},
		{name: "environment of the clone", needs: []string{"uv"}, files: uv + "-- app/.venv/pyvenv.cfg --\nhome = /usr/bin\n-- app/.venv/bin/python --\n" + script + "-- app/.venv/bin/python3 --\n" + script},
		{name: "active environment of the clone", needs: []string{"python3"}, env: []string{"PATH=ROOT/app/.venv/bin", "VIRTUAL_ENV=ROOT/app/.venv"}, late: true, files: pip + "-- app/.venv/pyvenv.cfg --\nhome = /usr/bin\n-- app/.venv/bin/python3 --\n" + script + "echo bento python=3.11.1\n"},
		{name: "Python of the clone that uv would look at", needs: []string{"uv"}, env: []string{"PATH=ROOT/bin"}, files: uv + "-- bin/python3 --\n" + script},
		{name: "link into the workspace", needs: []string{"python3"}, env: []string{"PATH=OUTSIDE/link"}, late: true, files: pip + "-- bin/python3 --\n" + script + "echo bento python=3.11.1\n"},
		{name: "sitecustomize", needs: []string{"python3"}, env: []string{"PYTHONPATH=."}, files: pip + "-- app/sitecustomize.py --\nopen('CANARY', 'w')\n-- app/platform.py --\nopen('CANARY', 'w')\n"},
		{name: "path in .python-version of pyenv", env: []string{"PATH=OUTSIDE/shims"}, late: true, files: pip + shimmed("python3", "versions", ".python-version", "PYENV_VERSION") + "-- app/.python-version --\n../../ws/evil\n-- evil/bin/python3 --\n" + script + "echo bento python=3.11.1\n"},
		{name: "path in .tool-versions of asdf", env: []string{"PATH=OUTSIDE/shims"}, late: true, files: gomod + shimmed("go", "installs/golang", ".tool-versions", "ASDF_GOLANG_VERSION") + "-- app/.tool-versions --\ngolang ../../../ws/evil\n-- evil/bin/go --\n" + script + "echo '{\"GOVERSION\": \"go1.22.0\"}'\n"},
		{name: "templates of mise", env: []string{"PATH=OUTSIDE/mise/shims"}, late: true, files: gomod + "-- OUTSIDE/mise/shims/go --\n" + script + "-- OUTSIDE/mise/installs/go/1.22.0/bin/go --\n#!/bin/sh\necho '{\"GOVERSION\": \"go1.22.0\"}'\n-- app/mise.toml --\n[tools]\ngo = \"{{exec(command='touch CANARY')}}\"\n"},
		{name: "RUBYOPT of the directory", needs: []string{"bundle"}, env: []string{"RUBYOPT=-r./trap"}, files: gem + "-- app/trap.rb --\nFile.write('CANARY', 'x')\n"},
		{name: "Gemfile", needs: []string{"bundle"}, files: gem + "-- app/.bundle/config --\n---\nBUNDLE_GEMFILE: \"Gemfile\"\n"},
		{name: "Composer", needs: []string{"composer"}, files: php + "-- app/php.ini --\nauto_prepend_file=ROOT/trap.php\n-- app/.user.ini --\nauto_prepend_file=ROOT/trap.php\n-- trap.php --\n<?php file_put_contents('CANARY', 'x');\n"},
		{name: "PHPRC of the directory", needs: []string{"composer"}, env: []string{"PHPRC=."}, late: true, files: php + "-- app/php.ini --\nauto_prepend_file=ROOT/trap.php\n-- trap.php --\n<?php file_put_contents('CANARY', 'x');\n"},
		{name: "toolchain line of go.mod", needs: []string{"go"}, env: []string{"PATH=OUTSIDE/bin"}, late: true, files: "-- bento.toml --\n[toolchain]\nallow_download = true\n-- app/go.mod --\nmodule example.com/a\n\ngo 1.21\n\ntoolchain go1.99.0\n-- app/a.go --\npackage a\n-- OUTSIDE/bin/go1.99.0 --\n" + script},
		{name: "go of direnv", needs: []string{"go"}, env: []string{"PATH=ROOT/bin"}, late: true, files: gomod + "-- bin/go --\n" + script + "echo '{\"GOVERSION\": \"go1.22.0\"}'\n"},
		{name: "relative PATH", needs: []string{"pnpm"}, env: []string{"PATH=bin"}, files: node + "-- app/pnpm-lock.yaml --\nlockfileVersion: '9.0'\n-- app/bin/node --\n" + script + "echo v20.0.0\n"},
	}
}

// shimmed is a version manager outside of the workspace, with the shim of one tool that
// starts whatever the nearest file names, as those of pyenv and asdf do.
func shimmed(tool, installs, file, variable string) string {
	return "-- OUTSIDE/" + installs + "/1.0.0/bin/" + tool + " --\n#!/bin/sh\n" +
		"-- OUTSIDE/shims/" + tool + ` --
#!/bin/sh
v=$` + variable + `
d=$PWD
while test -z "$v"; do
    test -f "$d/` + file + `" && v=$(awk '{ print $NF; exit }' "$d/` + file + `")
    test "$d" = / && break
    d=$(dirname "$d")
done
exec "OUTSIDE/` + installs + `/$v/bin/` + tool + `" "$@"
`
}

// lay writes the workspace and what is around it, and returns its root.
func (tr *trap) lay(t *testing.T, base string) (root, canary string, env adapters.Environ) {
	t.Helper()
	root, canary = filepath.Join(base, "ws"), filepath.Join(base, "canary")
	outside := filepath.Join(base, "outside")
	replace := strings.NewReplacer("CANARY", canary, "ROOT", root, "OUTSIDE", outside)
	files := txtar.Parse([]byte("-- bento.toml --\n" + tr.files)).Files
	for _, f := range files {
		path := filepath.Join(root, replace.Replace(f.Name))
		if rest, ok := strings.CutPrefix(f.Name, "OUTSIDE/"); ok {
			path = filepath.Join(outside, rest)
		}
		adaptertest.Write(t, path, replace.Replace(string(f.Data)))
		if bytes.HasPrefix(f.Data, []byte("#!")) {
			if err := os.Chmod(path, 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	adaptertest.Write(t, filepath.Join(root, ".git", "HEAD"), "")
	if err := os.MkdirAll(filepath.Join(base, "home"), 0o755); err != nil {
		t.Fatal(err)
	}
	env = adaptertest.Env(
		"HOME="+filepath.Join(base, "home"), "BENTO_CACHE_DIR="+filepath.Join(base, "cache"), "XDG_CACHE_HOME="+filepath.Join(base, "home", ".cache"),
		"CARGO_HOME="+realHome(t, "CARGO_HOME", ".cargo"), "RUSTUP_HOME="+realHome(t, "RUSTUP_HOME", ".rustup"), "PYENV_ROOT="+realHome(t, "PYENV_ROOT", ".pyenv"),
		"RUSTUP_TOOLCHAIN=", "JAVA_HOME=", "GOFLAGS=",
	)
	for _, kv := range tr.env {
		name, value, _ := strings.Cut(replace.Replace(kv), "=")
		if name == "PATH" {
			value += string(filepath.ListSeparator) + env.Get("PATH")
		}
		env = env.With(map[string]string{name: value})
	}
	return root, canary, env
}

// realHome is where a tool of the machine keeps what it needs to work.
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

// prepare makes what cannot be written down: links, and shims that a tool makes.
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

// TestLookingSpringsNoTrap: commands that only look start nothing that the repository
// chooses, and say where only that knows the toolchain.
func TestLookingSpringsNoTrap(t *testing.T) {
	for _, tr := range traps() {
		t.Run(tr.name, func(t *testing.T) {
			adaptertest.Need(t, tr.needs...)
			root, canary, env := tr.lay(t, adaptertest.Project(t, ""))
			tr.prepare(t, root)
			plan := onlyLook(t, root, env, "plan")
			task := plan.first(t)
			for _, args := range [][]string{
				{"why", task.Dish + ":" + task.Name}, {"doctor"}, {"toolchain", "list"}, {"toolchain", "check"}, {"dish", "list"},
				{"graph"}, {"artifacts"}, {"plan", "--no-cache"},
			} {
				onlyLook(t, root, env, args...)
			}
			if text, err := os.ReadFile(canary); err == nil {
				t.Errorf("the trap was sprung: %s", text)
			}
			switch {
			case tr.late && (task.Key != nil || task.MissReason != "toolchain_pending" || len(task.Notes) == 0):
				t.Errorf("only the project knows, and the plan says %+v", task)
			case !tr.late && !tr.missing && task.Key == nil:
				t.Errorf("the tool could be asked, and the plan says %+v", task)
			}
		})
	}
}

// looked is a plan, as far as it matters here.
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

// onlyLook runs a command, whatever it says of it.
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
