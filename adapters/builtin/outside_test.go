package builtin_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/adaptertest"
	"github.com/bentobuild/bento/adapters/builtin"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/internal/clone"
)

// asked is a project that chooses a version in some file. A probe outside of the project
// must return the same version as one inside.
type asked struct {
	name  string
	id    string // of the adapter
	needs []string
	env   []string // HOME/ is the directory of the files below HOME/
	files string
	want  string // in the answer
}

func projects() []asked {
	const (
		crate = "-- Cargo.toml --\n[package]\nname = \"a\"\nversion = \"0.1.0\"\n"
		pip   = "-- pyproject.toml --\n[project]\nname = \"a\"\nversion = \"1\"\n[build-system]\nrequires = []\n"
		uv    = "-- pyproject.toml --\n[project]\nname = \"a\"\nversion = \"1\"\n-- uv.lock --\nversion = 1\n"
		node  = "-- package.json --\n{\"name\": \"a\"}\n"
		pnpm9 = "-- HOME/corepack/v1/pnpm/9.1.0/.corepack --\n{\"locator\": {\"name\": \"pnpm\", \"reference\": \"9.1.0\"}, \"bin\": {\"pnpm\": \"./bin/pnpm.cjs\"}, \"hash\": \"sha1.x\"}\n" +
			"-- HOME/corepack/v1/pnpm/9.1.0/bin/pnpm.cjs --\nconsole.log('9.1.0')\n-- HOME/corepack/v1/pnpm/9.1.0/package.json --\n{\"version\": \"9.1.0\"}\n"
	)
	wants := func(version string) string { return "-- .python-version --\n" + version + "\n" }
	ownPyenv, ownUV := []string{"PATH=HOME/.pyenv/shims", "PYENV_ROOT="}, []string{"PATH=HOME/bin", "UV_PYTHON_INSTALL_DIR=HOME/uv"}
	return []asked{
		{name: "go", id: "go", needs: []string{"go"}, files: "-- go.mod --\nmodule example.com/a\n\ngo 1.21\n\ntoolchain go1.21.5\n", want: "GOVERSION=go1."},
		{name: "goenv", id: "go", env: []string{"PATH=HOME/.goenv/shims"}, files: "-- go.mod --\nmodule a\n-- .go-version --\n1.21.5\n" + envShim("go", ".goenv", ".go-version", "GOENV_VERSION", `{"GOVERSION": "go$v"}`), want: "go1.21.5"},
		{name: "asdf", id: "go", env: []string{"PATH=HOME/.asdf/shims"}, files: "-- go.mod --\nmodule a\n-- .tool-versions --\ngolang 1.22.1\n" + installs("go", ".asdf", "golang", `{"GOVERSION": "go$v"}`, "1.22.1", "1.23.0"), want: "go1.22.1"},
		{name: "asdf and the user's own", id: "go", env: []string{"PATH=HOME/.asdf/shims"}, files: "-- go.mod --\nmodule a\n-- HOME/.tool-versions --\ngolang 1.23.0\n" + installs("go", ".asdf", "golang", `{"GOVERSION": "go$v"}`, "1.22.1", "1.23.0"), want: "go1.23.0"},
		{name: "mise", id: "go", env: []string{"PATH=HOME/mise/shims"}, files: "-- go.mod --\nmodule a\n-- mise.toml --\n[tools]\ngo = \"1.22.1\"\n" + installs("go", "mise", "go", `{"GOVERSION": "go$v"}`, "1.22.1", "1.23.0"), want: "go1.22.1"},
		{name: "rustup", id: "cargo", files: crate + "-- rust-toolchain.toml --\n[toolchain]\nchannel = \"stable\"\n", want: "rustc 1.90.0"},
		{name: "rustup nightly", id: "cargo", files: crate + "-- rust-toolchain --\nnightly\n", want: "rustc 1.92.0"},
		{name: "rustup, nothing", id: "cargo", files: crate, want: "rustc 1.90.0"},
		{name: "pyenv", id: "python", needs: []string{"python3"}, env: ownPyenv, files: pip + wants("3.12.1") + pyenv("3.12.1", "3.10.13"), want: "python=3.12.1"},
		{name: "pyenv, the beginning of a version", id: "python", needs: []string{"python3"}, env: ownPyenv, files: pip + wants("3.10") + pyenv("3.12.1", "3.10.13"), want: "python=3.10.13"},
		{name: "pyenv, several", id: "python", needs: []string{"python3"}, env: ownPyenv, files: pip + wants("3.9.18\n3.12.1") + pyenv("3.12.1", "3.9.18"), want: "python=3.9.18"},
		{name: "pyenv, nothing", id: "python", needs: []string{"python3"}, env: ownPyenv, files: pip + pyenv("3.12.1"), want: "python=3."},
		{name: "uv", id: "python-uv", needs: []string{"uv", "python3"}, files: uv, want: "python=3."},
		{name: "uv and .python-version", id: "python-uv", needs: []string{"uv", "python3"}, env: ownUV, files: uv + wants("3.77") + says("bin/python3.77", "3.77.1") + says("bin/python3.78", "3.78.2"), want: "python=3.77.1"},
		{name: "uv and requires-python", id: "python-uv", needs: []string{"uv", "python3"}, env: ownUV, files: strings.Replace(uv, "version = \"1\"\n", "version = \"1\"\nrequires-python = \">=3.77, <3.78\"\n", 1) + says("bin/python3.77", "3.77.1") + says("bin/python3.78", "3.78.2"), want: "python=3.77.1"},
		{name: "uv and a preference", id: "python-uv", needs: []string{"uv", "python3"}, files: uv + "-- uv.toml --\npython-preference = \"only-system\"\n", want: "python=3."},
		{name: "rbenv", id: "ruby", env: []string{"PATH=HOME/.rbenv/shims"}, files: "-- Gemfile --\n-- .ruby-version --\n3.2.1\n-- HOME/.rbenv/shims/bundle --\n#!/bin/sh\n" + envShim("ruby", ".rbenv", ".ruby-version", "RBENV_VERSION", "bento ruby=$v"), want: "ruby=3.2.1"},
		{name: "Maven", id: "maven", needs: []string{"mvn", "javac"}, files: "-- pom.xml --\n<project/>\n-- .mvn/maven.config --\n-B\n", want: "Apache Maven 3."},
		{name: "jenv", id: "maven", needs: []string{"mvn", "javac"}, env: []string{"PATH=HOME/.jenv/shims"}, files: "-- pom.xml --\n<project/>\n-- .java-version --\n17.0.1\n-- .mvn/x --\n-- HOME/.jenv/versions/x/y --\n-- HOME/.jenv/shims/java --\n#!/bin/sh\nv=$JENV_VERSION\ntest -n \"$v\" || read v < .java-version\necho \"openjdk version \\\"$v\\\"\" >&2\necho 'Apache Maven 3.9.9'\n", want: "17.0.1"},
		{name: "Composer", id: "php", needs: []string{"composer"}, files: "-- composer.json --\n{}\n", want: "Composer version"},
		{name: "Deno", id: "deno", needs: []string{"deno"}, files: "-- deno.json --\n{}\n", want: "deno="},
		{name: "Bun", id: "bun", needs: []string{"bun"}, files: node + "-- bun.lock --\n{}\n", want: "bun="},
		{name: "npm", id: "node-npm", needs: []string{"npm"}, files: node + "-- .nvmrc --\n18\n-- .npmrc --\nfund=false\n", want: "npm="},
		{name: "pnpm", id: "node-pnpm", needs: []string{"pnpm"}, files: "-- package.json --\n{\"name\": \"a\", \"packageManager\": \"pnpm@9.1.0\"}\n", want: "pnpm="},
		{name: "yarn", id: "node-yarn", needs: []string{"yarn"}, files: node + "-- yarn.lock --\n-- .yarnrc.yml --\nnodeLinker: node-modules\n", want: "yarn=4."},
		{name: "corepack", id: "node-pnpm", needs: []string{"corepack"}, env: []string{"PATH=HOME/bin", "COREPACK_HOME=HOME/corepack"}, files: pnpm9 + "-- package.json --\n{\"name\": \"a\", \"packageManager\": \"pnpm@9.1.0\"}\n", want: "pnpm=9.1.0"},
		{name: "nodenv", id: "node-npm", env: []string{"PATH=HOME/.nodenv/shims"}, files: node + "-- .node-version --\n20.1.0\n-- HOME/.nodenv/shims/npm --\n#!/bin/sh\necho 9.0.0\n" + envShim("node", ".nodenv", ".node-version", "NODENV_VERSION", "v$v"), want: "node=v20.1.0"},
	}
}

// pyenv returns the interpreters that pyenv has installed, and its shim: the first of several versions counts, the
// beginning of a version is the version, and without a choice the Python of the machine answers.
func pyenv(versions ...string) string {
	text := "-- HOME/.pyenv/shims/python3 --\n#!/bin/sh\nv=$PYENV_VERSION\ntest -n \"$v\" || read v < .python-version 2>/dev/null\nv=${v%%:*}\n" +
		"for p in HOME/.pyenv/versions/$v/bin/python3 HOME/.pyenv/versions/$v.*/bin/python3; do test ! -x $p || exec $p \"$@\"; done\nexec PYTHON \"$@\"\n"
	for _, v := range versions {
		text += says(".pyenv/versions/"+v+"/bin/python3", v)
	}
	return text
}

// says returns an interpreter below HOME: the Python of the machine, which answers as if it had another version. So a
// test needs no second Python.
func says(name, version string) string {
	minor := version[:strings.LastIndex(version, ".")]
	return "-- HOME/" + name + " --\n#!/bin/sh\nPYTHON \"$@\" | sed 's|\"PYTHON\"|\"HOME/" + name + "\"|g; s|FULL|" + version + "|g; s|\"MINOR\"|\"" + minor + "\"|g; s|\"minor\": [0-9]*|\"minor\": " +
		strings.TrimPrefix(minor, "3.") + "|'\n"
}

// machinePython returns what replaces PYTHON, FULL and MINOR in the text of says: the path and the version of the
// Python of the machine, which may itself be behind a shim.
func machinePython(t *testing.T) *strings.Replacer {
	t.Helper()
	out, err := exec.Command("python3", "-I", "-c", "import platform, sys; print(sys.executable, platform.python_version(), '%d.%d' % sys.version_info[:2])").Output()
	words := strings.Fields(string(out))
	if err != nil || len(words) != 3 {
		t.Fatalf("python3 printed %q: %v", out, err)
	}
	return strings.NewReplacer("PYTHON", words[0], "FULL", words[1], "MINOR", words[2])
}

// envShim returns the shim of a version manager such as rbenv, which takes the version from
// the variable, else from the nearest file.
func envShim(tool, manager, file, variable, says string) string {
	return "-- HOME/" + manager + "/versions/x/y --\n-- HOME/" + manager + "/shims/" + tool + " --\n#!/bin/sh\nv=$" + variable +
		"\ntest -n \"$v\" || read v < " + file + "\ncat <<END\n" + says + "\nEND\n"
}

// installs returns tools that asdf or mise has installed, and a shim that starts the
// version of the nearest file, or that of the user.
func installs(tool, manager, plugin, says string, versions ...string) string {
	text := "-- HOME/" + manager + "/shims/" + tool + " --\n#!/bin/sh\nfor f in .tool-versions mise.toml ~/.tool-versions; do\n" +
		"v=$(sed -n 's/^go[lang]*[ =\"]*\\([0-9.]*\\).*/\\1/p' $f 2>/dev/null)\ntest -z \"$v\" || exec \"HOME/" + manager + "/installs/" + plugin + "/$v/bin/" + tool + "\" \"$@\"\ndone\nexit 126\n"
	for _, v := range versions {
		text += "-- HOME/" + manager + "/installs/" + plugin + "/" + v + "/bin/" + tool + " --\n#!/bin/sh\nv=" + v + "\ncat <<END\n" + says + "\nEND\n"
	}
	return text
}

// lay writes the project, and what the user has, to different places.
func (p *asked) lay(t *testing.T) (root string, env adapters.Environ) {
	t.Helper()
	home := adaptertest.Project(t, "")
	root = adaptertest.Project(t, "")
	files := strings.ReplaceAll(p.files, "HOME/", home+"/")
	if strings.Contains(files, "\nPYTHON ") || strings.Contains(files, "exec PYTHON") {
		files = machinePython(t).Replace(files)
	}
	for _, f := range txtar.Parse([]byte(files)).Files {
		path := f.Name
		if !filepath.IsAbs(path) {
			path = filepath.Join(root, path)
		}
		adaptertest.Write(t, path, string(f.Data))
		if strings.HasPrefix(string(f.Data), "#!") {
			if err := os.Chmod(path, 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	env = adaptertest.Env("RUSTUP_TOOLCHAIN=", "PYENV_VERSION=", "JAVA_HOME=")
	if p.id == "cargo" {
		env = adaptertest.Rustup(t, home, env)
	}
	for _, kv := range p.env {
		name, value, _ := strings.Cut(strings.Replace(kv, "HOME/", home+"/", 1), "=")
		if name == "PATH" {
			value += string(filepath.ListSeparator) + env.Get("PATH")
			env = env.With(map[string]string{"HOME": home})
		}
		env = env.With(map[string]string{name: value})
	}
	if p.name == "corepack" {
		bin := filepath.Join(home, "bin")
		if err := os.MkdirAll(bin, 0o755); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command("corepack", "enable", "--install-directory", bin, "pnpm", "yarn").CombinedOutput(); err != nil {
			t.Fatalf("corepack: %v\n%s", err, out)
		}
	}
	return root, env
}

// TestOutsideIsAsInside: a tool that is asked outside of the project, as commands that
// look ask it, answers as it does in the project, where tasks start it.
func TestOutsideIsAsInside(t *testing.T) {
	for _, p := range projects() {
		t.Run(p.name, func(t *testing.T) {
			adaptertest.Need(t, p.needs...)
			root, env := p.lay(t)
			a := adapters.NewRegistry(builtin.All(snapshot.Options{Env: env, Clone: clone.At(root)})...).ByID(p.id)
			outside, err := a.ToolchainFingerprint(t.Context(), root)
			if err != nil {
				t.Fatal(err)
			}
			inside, err := adapters.ToolchainAtRun(t.Context(), a, adapters.RunRequest{Dir: root})
			if err != nil {
				t.Fatal(err)
			}
			if outside != inside || !strings.Contains(outside, p.want) {
				t.Errorf("outside: %s\ninside:  %s\nwant %s", outside, inside, p.want)
			}
		})
	}
}

// TestWhatIsNotInstalledIsNamed: a required version that is not installed is a missing
// tool, and not fetched.
func TestWhatIsNotInstalledIsNamed(t *testing.T) {
	for _, p := range []asked{
		{name: "asdf", id: "go", env: []string{"PATH=HOME/.asdf/shims"}, files: "-- go.mod --\nmodule a\n-- .tool-versions --\ngolang 1.9.9\n" + installs("go", ".asdf", "golang", "x", "1.22.1"), want: "golang 1.9.9"},
		{name: "corepack", id: "node-pnpm", needs: []string{"corepack"}, env: []string{"PATH=HOME/bin", "COREPACK_HOME=HOME/corepack"}, files: "-- package.json --\n{\"name\": \"a\", \"packageManager\": \"pnpm@9.1.0\"}\n", want: "pnpm 9.1.0"},
		{name: "rustup", id: "cargo", files: "-- Cargo.toml --\n[package]\nname = \"a\"\n-- rust-toolchain --\n1.33.7\n", want: "rust toolchain 1.33.7"},
	} {
		t.Run(p.name, func(t *testing.T) {
			adaptertest.Need(t, p.needs...)
			root, env := p.lay(t)
			a := adapters.NewRegistry(builtin.All(snapshot.Options{Env: env, Clone: clone.At(root)})...).ByID(p.id)
			_, err := a.ToolchainFingerprint(t.Context(), root)
			var missing *adapters.MissingTool
			if !errors.As(err, &missing) || !strings.HasPrefix(missing.Tool, p.want) || missing.Hint == "" {
				t.Errorf("%#v", err)
			}
		})
	}
}
