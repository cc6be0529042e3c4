package probe

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/internal/clone"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}

// at returns what an adapter reads in the workspace at root.
func at(root string) snapshot.Source { return snapshot.Options{Clone: clone.At(root)}.Source() }

func isLate(err error) bool {
	var late *adapters.KnownAtRun
	return errors.As(err, &late)
}

// TestWorkspaceIsNotStarted: neither a file of the workspace, nor a link that leads into
// or through it.
func TestWorkspaceIsNotStarted(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	write(t, base+"/ws/bin/go", "#!/bin/sh\n")
	write(t, base+"/usr/go", "#!/bin/sh\n")
	for at, to := range map[string]string{
		"ws.link": "ws", "usr/in": "../ws/bin/go", "ws/out": "../usr/go", "usr/through": "../ws/out", "usr/plain": "go", "usr/dir": "../ws/bin",
		"usr/circle": "circle", "ws.other": "ws.link",
	} {
		if err := os.Symlink(to, filepath.Join(base, at)); err != nil {
			t.Fatal(err)
		}
	}
	for _, root := range []string{"ws", "ws.link"} {
		a := New(at(filepath.Join(base, root)), nil)
		for path, inside := range map[string]bool{
			"ws/bin/go": true, "usr/in": true, "usr/through": true, "usr/dir/go": true, "ws.link/bin/go": true, "ws.other/bin/go": true,
			"usr/circle": true, "ws/bin/../../usr/in": true, "usr/go": false, "usr/plain": false, "ws2/go": false,
		} {
			if _, err := a.Resolve(filepath.Join(base, path), base); isLate(err) != inside {
				t.Errorf("workspace %s: %s: %v", root, path, err)
			}
		}
	}
}

// TestWhatAToolSees: PATH without the workspace and without relative entries, nothing
// that loads code, and nothing that may fetch.
func TestWhatAToolSees(t *testing.T) {
	base := t.TempDir()
	tool := filepath.Join(base, "usr", "deno")
	write(t, tool, "#!/bin/sh\npwd\nenv\n")
	write(t, base+"/ws/bin/x", "")
	env := adapters.NewEnviron([]string{
		"PATH=" + base + "/ws/bin:bin::" + base + "/usr:/usr/bin:/bin", "NODE_OPTIONS=--require ./x.js", "RUBYOPT=-r./x", "JAVA_TOOL_OPTIONS=-javaagent:x.jar", "HOME=" + base,
	})
	said, err := New(at(base+"/ws"), env).Ask(t.Context(), DenoVersion, At{Dir: base + "/ws", Path: tool})
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for line := range strings.Lines(said.Out) {
		name, _, _ := strings.Cut(strings.TrimSpace(line), "=")
		if _, ours := stays()[name]; !ours && name != "PWD" && name != "_" && name != "SHLVL" && name != "OLDPWD" {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	want := []string{"/", "HOME=" + base, "PATH=" + base + "/usr:/usr/bin:/bin"}
	if d := cmp.Diff(want, lines); d != "" {
		t.Error(d)
	}
	for _, off := range []string{"GOTOOLCHAIN=local", "RUSTUP_AUTO_INSTALL=0", "COREPACK_ENABLE_NETWORK=0", "UV_PYTHON_DOWNLOADS=never"} {
		if !strings.Contains(said.Out, off+"\n") {
			t.Errorf("no %s", off)
		}
	}
}

// TestHomesInTheWorkspace: code that a variable leads to is the repository's, too.
func TestHomesInTheWorkspace(t *testing.T) {
	base := t.TempDir()
	tool := filepath.Join(base, "usr", "mvn")
	write(t, tool, "#!/bin/sh\n")
	for value, late := range map[string]bool{
		"JAVA_HOME=" + base + "/ws/jdk": true, "JAVA_HOME=jdk": true, "JAVACMD=./java": true, "PHPRC=.": true, "COREPACK_HOME=" + base + "/ws": true,
		"PHP_INI_SCAN_DIR=/etc/php:" + base + "/ws/ini": true, "JAVACMD=java": false, "JAVA_HOME=" + base + "/jdk": false, "JAVA_HOME=": false,
	} {
		env := adapters.NewEnviron([]string{"PATH=/usr/bin:/bin", value})
		if _, err := New(at(base+"/ws"), env).Ask(t.Context(), MavenVersion, At{Dir: base, Path: tool}); isLate(err) != late {
			t.Errorf("%s: %v", value, err)
		}
	}
}

// TestStartsOfTheWorkspace: if a tool starts another one by name, and a run would use the
// repository's, no other tool answers instead.
func TestStartsOfTheWorkspace(t *testing.T) {
	base := t.TempDir()
	write(t, base+"/top/.git/HEAD", "")
	for _, path := range []string{"top/.venv/bin/python3", "top/bin/java", "top/bin/python3", "usr/java", "usr/python3", "usr/mvn", "usr/uv"} {
		write(t, filepath.Join(base, path), "#!/bin/sh\n")
	}
	write(t, base+"/top/.venv/pyvenv.cfg", "home = /usr/bin\n")
	for _, tt := range []struct {
		q          Question
		tool, path string
		late       bool
	}{
		{MavenVersion, "mvn", "BASE/top/bin:BASE/usr", true},
		{MavenVersion, "mvn", "BASE/usr:BASE/top/bin", false},
		{UVPython, "uv", "BASE/top/bin:BASE/usr", true},
		{UVPython, "uv", "BASE/top/.venv/bin:BASE/usr", false},
		{PoetryVersion, "uv", "BASE/top/.venv/bin:BASE/usr", true},
	} {
		env := adapters.NewEnviron([]string{"PATH=" + strings.ReplaceAll(tt.path, "BASE", base) + ":/usr/bin:/bin"})
		_, err := New(at(base+"/top/ws"), env).Ask(t.Context(), tt.q, At{Dir: base + "/top/ws", Path: filepath.Join(base, "usr", tt.tool)})
		if isLate(err) != tt.late {
			t.Errorf("%s with PATH %s: %v, want known at run: %v", tt.tool, tt.path, err, tt.late)
		}
	}
}

// TestLinkedToolchain: a toolchain of rustup may be a link to one that the repository
// builds.
func TestLinkedToolchain(t *testing.T) {
	base := t.TempDir()
	write(t, base+"/ws/stage1/bin/rustc", "#!/bin/sh\n")
	write(t, base+"/rustup/toolchains/stable-x/bin/rustc", "#!/bin/sh\n")
	write(t, base+"/usr/rustc", "#!/bin/sh\n")
	if err := os.Symlink(base+"/ws/stage1", base+"/rustup/toolchains/stage1"); err != nil {
		t.Fatal(err)
	}
	for name, late := range map[string]bool{"stage1": true, "stable": false, "": true} {
		for _, env := range [][]string{{"RUSTUP_TOOLCHAIN=" + name}, nil} {
			at, question := at(base+"/ws"), At{Dir: base + "/ws", Path: base + "/usr/rustc"}
			if env == nil && name != "" {
				question.Set = map[string]string{"RUSTUP_TOOLCHAIN": name}
			}
			asker := New(at, adapters.NewEnviron(append(env, "PATH=/usr/bin:/bin", "RUSTUP_HOME="+base+"/rustup")))
			if _, err := asker.Ask(t.Context(), RustcVersion, question); isLate(err) != late {
				t.Errorf("toolchain %q: %v, want known at run: %v", name, err, late)
			}
		}
	}
}

// TestWords: a required version is passed to the tool only if it is a version.
func TestWords(t *testing.T) {
	base := t.TempDir()
	tool := filepath.Join(base, "uv")
	write(t, tool, "#!/bin/sh\necho \"$@\"\n")
	a := New(at(filepath.Join(base, "ws")), adapters.NewEnviron([]string{"PATH=/usr/bin:/bin"}))
	for word, good := range map[string]bool{
		"3.12": true, "3": true, "3.12.1": true, "3.13t": true, "3.13.0rc1": true, ">=3.9": true, ">=3.9,<3.13": true, ">= 3.9, < 3.13, != 3.10.*": true, "~=3.9": true,
		"==3.11.*": true, "cpython@3.12": true, "cpython-3.12.3-linux-x86_64-gnu": true, "pypy3.10": true, "python3.12": true, "3.13+freethreaded": true,
		"/usr/bin/python3": false, "./python": false, "../python": false, "python": false, "evil": false, "C:\\python": false, "https://x/3.12": false,
		"3.12/../..": false, "--help": false, "-p3": false, "3.12 --verbose": false, "3.12\n/x": false, "bin/3.12": false, "~/3.12": false, "": true,
	} {
		said, err := a.Ask(t.Context(), UVPython, At{Dir: base, Path: tool, Word: word})
		if (err == nil) != good || !good && !isLate(err) {
			t.Errorf("%q: %q, %v", word, said.Out, err)
		}
	}
	for own, good := range map[string]bool{"/usr/bin/python3": true, filepath.Join(base, "ws", "python"): false, "./python": false, "3.12": true} {
		if _, err := a.Ask(t.Context(), UVPython, At{Dir: base, Path: tool, Word: own, Own: true}); (err == nil) != good {
			t.Errorf("the user's own %q: %v", own, err)
		}
	}
	for name, good := range map[string]bool{"stable": true, "1.85.0": true, "nightly-2025-02-20": true, "../x": false, "/opt/rust": false, "": false} {
		set := map[string]string{"RUSTUP_TOOLCHAIN": name}
		if _, err := a.Ask(t.Context(), RustcVersion, At{Dir: base, Path: tool, Set: set}); (err == nil) != good {
			t.Errorf("the toolchain %q: %v", name, err)
		}
	}
	if _, err := a.Ask(t.Context(), RustcVersion, At{Dir: base, Path: tool, Set: map[string]string{"LD_PRELOAD": "x"}}); !isLate(err) {
		t.Errorf("a variable that is not in the table: %v", err)
	}
}

// TestRunNeedsLeave: without leave Run starts no tool.
func TestRunNeedsLeave(t *testing.T) {
	canary := filepath.Join(t.TempDir(), "x")
	work := Work{Argv: []string{"/bin/sh", "-c", "touch " + canary}, Dir: "/"}
	if err := Run(t.Context(), adapters.Leave{}, work, nil); err == nil {
		t.Error("it ran without leave")
	}
	if _, err := os.Stat(canary); err == nil {
		t.Error("it ran without leave")
	}
	if err := Run(t.Context(), adapters.InstallRequest{}.Leave(), work, nil); err != nil {
		t.Error(err)
	}
}

// TestMise: what its files say of a tool in their several ways.
func TestMise(t *testing.T) {
	for name, tt := range map[string]struct {
		files map[string]string // in the project
		want  string            // the version whose tool is found, "" for the shim, "?" for known at run
	}{
		"a version":             {map[string]string{"mise.toml": "[tools]\nnode = \"20.1.0\"\n"}, "20.1.0"},
		"the beginning of one":  {map[string]string{"mise.toml": "[tools]\nnode = \"20\"\n"}, "20.10.0"},
		"a list":                {map[string]string{".mise.toml": "[tools]\nnode = [\"18.0.0\", \"20\"]\n"}, "18.0.0"},
		"asdf's file":           {map[string]string{".tool-versions": "python 3\nnode 18.0.0 # old\n"}, "18.0.0"},
		"both, alike":           {map[string]string{".tool-versions": "node 18.0.0\n", "mise.toml": "[tools]\nnode = \"18.0.0\"\n"}, "18.0.0"},
		"both, not alike":       {map[string]string{".tool-versions": "node 20\n", "mise.toml": "[tools]\nnode = \"18.0.0\"\n"}, "?"},
		"by its other name":     {map[string]string{".tool-versions": "nodejs 18.0.0\n"}, "18.0.0"},
		"another tool":          {map[string]string{"mise.toml": "[tools]\npython = \"3\"\n"}, ""},
		"nothing":               {nil, ""},
		"not installed":         {map[string]string{"mise.toml": "[tools]\nnode = \"99\"\n"}, "?"},
		"a template":            {map[string]string{"mise.toml": "[tools]\nnode = \"{{exec(command='x')}}\"\n"}, "?"},
		"a path":                {map[string]string{"mise.toml": "[tools]\nnode = \"path:/x\"\n"}, "?"},
		"a table":               {map[string]string{"mise.toml": "[tools]\nnode = {version = \"20\", postinstall = \"x\"}\n"}, "?"},
		"another backend":       {map[string]string{"mise.toml": "[tools]\n\"ubi:node\" = \"1\"\n"}, "?"},
		"other names":           {map[string]string{"mise.toml": "[tools]\nnode = \"mine\"\n[alias.node]\nmine = \"path:/x\"\n"}, "?"},
		"broken":                {map[string]string{"mise.toml": "[tools\n"}, "?"},
		"a way up":              {map[string]string{".tool-versions": "node ../../../ws\n"}, "?"},
		"a directory in place":  {map[string]string{".tool-versions/x": ""}, "?"},
		"system, which is none": {map[string]string{".tool-versions": "node system\n"}, "missing"},
	} {
		t.Run(name, func(t *testing.T) {
			base := t.TempDir()
			for file, text := range tt.files {
				write(t, filepath.Join(base, "ws", file), text)
			}
			for _, v := range []string{"18.0.0", "20.1.0", "20.10.0"} {
				write(t, filepath.Join(base, "mise", "installs", "node", v, "bin", "node"), "")
			}
			shim := filepath.Join(base, "mise", "shims", "node")
			write(t, shim, "")
			a := New(at(filepath.Join(base, "ws")), adapters.NewEnviron([]string{"PATH=" + filepath.Dir(shim), "HOME=" + base + "/home"}))
			tool, err := a.Resolve(shim, filepath.Join(base, "ws"))
			var missing *adapters.MissingTool
			switch {
			case tt.want == "?" && !isLate(err), tt.want == "missing" && !errors.As(err, &missing):
				t.Errorf("%+v, %v", tool, err)
			case tt.want == "" && (err != nil || tool.Path != shim):
				t.Errorf("%+v, %v", tool, err)
			case tt.want != "" && tt.want != "?" && tt.want != "missing" && (err != nil || !strings.Contains(tool.Path, "/"+tt.want+"/")):
				t.Errorf("%+v, %v", tool, err)
			}
		})
	}
}

func FuzzVersionFiles(f *testing.F) {
	f.Add("golang 1.22.0 system # x\n", true)
	f.Add("[tools]\ngolang = [\"1.22\", \"prefix:1\"]\n", false)
	f.Add("[tools]\ngolang = {version = \"1\"}\n[alias]\n", false)
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text string, lines bool) {
		path := filepath.Join(dir, "file")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s := managerDir{read: New(at(dir), nil).read}
		read := s.tomlVersions
		if lines {
			read = s.lineVersions
		}
		versions, err := read(path, "golang")
		if err != nil && !isLate(err) {
			t.Fatalf("%v", err)
		}
		for _, v := range versions {
			if strings.ContainsAny(v, "/\\: \t\n") || strings.Contains(v, "..") || v == "" || v[0] == '-' {
				t.Fatalf("%q passes for a version", v)
			}
		}
		for _, w := range words([]byte(text)) {
			isVersion(w)
		}
	})
}

// TestDeclared: the command of a plugin runs as a question to any tool, and no other command does.
func TestDeclared(t *testing.T) {
	base := t.TempDir()
	write(t, base+"/usr/zig", "#!/bin/sh\necho \"$# $1 $PWD ${TOKEN-none}\"; read x || echo 'no input' >&2\n")
	write(t, base+"/ws/bin/zig", "#!/bin/sh\necho ours $PWD\n")
	write(t, base+"/ws/a/build.zig", "")
	env := func(path string) adapters.Environ {
		return adapters.NewEnviron([]string{"PATH=" + strings.ReplaceAll(path, "BASE", base) + ":/usr/bin:/bin"})
	}
	argv, where := []string{"zig", "version"}, At{Dir: base + "/ws/a"}
	said, err := New(at(base+"/ws"), env("BASE/usr")).AskDeclared(t.Context(), argv, where)
	if want := (Output{"1 version / none\n", "no input\n"}); said != want || err != nil {
		t.Errorf("got %q, %v, want %q", said, err, want)
	}
	ours := New(at(base+"/ws"), env("BASE/ws/bin:BASE/usr"))
	if _, err := ours.AskDeclared(t.Context(), argv, where); !isLate(err) {
		t.Errorf("a zig of the workspace: %v, want known at run", err)
	}
	where.Leave = adapters.RunRequest{}.Leave()
	if said, err := ours.AskDeclared(t.Context(), argv, where); said.Out != "ours "+base+"/ws/a\n" || err != nil {
		t.Errorf("a zig of the workspace, in a run: %q, %v", said, err)
	}
	var missing *adapters.MissingTool
	if _, err := New(at(base+"/ws"), env("BASE")).AskDeclared(t.Context(), argv, where); !errors.As(err, &missing) {
		t.Errorf("no zig: %v, want a missing tool", err)
	}
	if _, err := ours.AskDeclared(t.Context(), []string{"zig", "build"}, where); err == nil {
		t.Error("zig build runs")
	}
}

// TestNamed: a command that the repository names starts only with the leave of a run, in the root of
// the file system.
func TestNamed(t *testing.T) {
	base := t.TempDir()
	write(t, base+"/usr/brewc", "#!/bin/sh\npwd >> "+base+"/asked\necho brewc 1 $1\n")
	write(t, base+"/ws/x", "")
	env := adapters.NewEnviron([]string{"PATH=" + base + "/usr:/usr/bin:/bin"})
	a := New(snapshot.Options{Clone: clone.At(base + "/ws")}.Source(), env)
	at := At{Dir: base + "/ws", Path: base + "/usr/brewc"}
	if said, err := a.AskNamed(t.Context(), adapters.Leave{}, at, "-v"); err == nil {
		t.Errorf("without leave: %q", said.Out)
	}
	if _, err := os.Stat(base + "/asked"); err == nil {
		t.Error("it was started without leave")
	}
	said, err := a.AskNamed(t.Context(), adapters.RunRequest{}.Leave(), at, "-v")
	if asked, _ := os.ReadFile(base + "/asked"); err != nil || said.Out != "brewc 1 -v\n" || string(asked) != "/\n" {
		t.Errorf("got %q, %v, asked in %q", said.Out, err, asked)
	}
}
