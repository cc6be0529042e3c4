package bounds

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func write(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
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

// repository returns a repository's work tree with a workspace "ws" in it, and a
// directory beside it.
func repository(t *testing.T) (top, away string) {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	top, away = filepath.Join(base, "top"), filepath.Join(base, "away")
	for _, path := range []string{top + "/.git/HEAD", top + "/ws/bin/go", top + "/.venv/bin/go", away + "/go"} {
		write(t, path)
	}
	return top, away
}

// TestReached: the area is the workspace and the repository around it. Any links on the path that
// lead into or through it are found.
func TestReached(t *testing.T) {
	top, away := repository(t)
	link(t, top+"/ws", away+"/ws")
	link(t, top+"/out/go", away+"/file")
	link(t, away+"/go", top+"/out/go")
	link(t, away, top+"/through")
	link(t, "../top/through", away+"/back")
	link(t, "circle", away+"/circle")
	link(t, top+"/ws", away+"/root")
	for _, root := range []string{top + "/ws", away + "/root"} {
		a := Of(root)
		for path, want := range map[string]bool{
			top + "/ws/bin/go": true, top + "/.venv/bin": true, top: true, away + "/ws/bin": true, away + "/file": true, away + "/back/go": true,
			away + "/circle": true, away + "/root": true, "bin": true, "": true, "./x": true, "/proc/self/cwd": true, top + "/ws/../../away/go": true,
			away + "/go": false, away: false, top + "2": false, filepath.Dir(top): false, "/nowhere/at/all": false, "/": false,
		} {
			if got := a.Reached(path); got != want {
				t.Errorf("area of %s: Reached(%q) = %v, want %v", root, path, got, want)
			}
		}
	}
}

// TestHomeIsNoClone: a user who keeps the home directory in git has tools there.
func TestHomeIsNoClone(t *testing.T) {
	top, _ := repository(t)
	t.Setenv("HOME", top)
	for root, inside := range map[string]bool{top: false, top + "/ws": true} {
		a := Of(root)
		if a.Reached(top + "/.venv/bin/go") {
			t.Errorf("area of %s: the home directory is in it", root)
		}
		if got := a.Reached(top + "/ws/bin/go"); got != inside {
			t.Errorf("area of %s: Reached(ws/bin/go) = %v, want %v", root, got, inside)
		}
	}
}

func TestPath(t *testing.T) {
	top, away := repository(t)
	path := strings.Join([]string{top + "/.venv/bin", "", ".", "bin", top + "/ws/bin", away, "/usr/bin"}, string(filepath.ListSeparator))
	a := Of(top + "/ws")
	if diff := cmp.Diff([]string{away, "/usr/bin"}, a.Path(path)); diff != "" {
		t.Errorf("Path (-want +got):\n%s", diff)
	}
	if got, err := a.LookPath(path, "go"); got != away+"/go" || err != nil {
		t.Errorf("LookPath = %q, %v, want %q", got, err, away+"/go")
	}
	if got, err := a.LookPath(top+"/.venv/bin", "go"); err == nil {
		t.Errorf("LookPath = %q, want an error", got)
	}
}

// TestSteers: TOP is the repository, AWAY the directory beside it.
func TestSteers(t *testing.T) {
	top, away := repository(t)
	link(t, top+"/ws/bin/go", away+"/jdk/bin/java")
	a := Of(top + "/ws")
	for value, want := range map[string]bool{
		"JAVA_HOME=TOP/jdk": true, "JAVA_HOME=jdk": true, "JAVA_HOME=AWAY/jdk": true, "JAVA_HOME=AWAY": false, "JAVA_HOME=": false,
		"JAVACMD=./java": true, "JAVACMD=java": false, "PHPRC=.": true, "PHP_INI_SCAN_DIR=/etc/php:TOP/ini": true, "PHP_INI_SCAN_DIR=:/etc/php": false,
		"CC=TOP/cc -m64": true, "CC=ccache TOP/cc": true, "CC=gcc -BTOP/x": true, "CC=gcc -B/usr/lib": false, "CC=gcc -specs=TOP/x": true, "CC=gcc -specs=x/y": true,
		"CC=./cc": true, "CC=gcc -m64": false, "CC=/usr/bin/gcc": false, "CC=\"TOP/cc\"": true,
		"CGO_CFLAGS=-ITOP/include -DX=a/b": false, "CGO_CFLAGS=-fplugin=TOP/x.so": true, "CGO_CFLAGS=-O2 -BTOP": true, "CGO_LDFLAGS=-LTOP/lib -Wl,-rpath,TOP/lib": false,
		"GOENV=TOP/env": true, "GOENV=off": false, "GOCACHEPROG=TOP/prog x": true, "GOROOT=TOP": true,
		"GOFLAGS=-mod=mod -toolexec=TOP/x": true, "GOFLAGS='-toolexec=./x y'": true, "GOFLAGS=-ldflags=-X=a/b.c=1 -toolexec=AWAY/x": false,
		"RUSTC=TOP/rustc": true, "RUSTC=rustc": false, "RUSTUP_TOOLCHAIN=TOP/rust": true, "RUSTUP_TOOLCHAIN=./rust": true, "RUSTUP_TOOLCHAIN=stable": false,
		"GRADLE_USER_HOME=TOP/.gradle": true, "GRADLE_HOME=TOP/g": true, "GEM_HOME=TOP/gems": true, "GEM_PATH=AWAY:TOP/gems": true, "RUBYGEMS_GEMDEPS=-": true,
		"UV_PYTHON=TOP/.venv": true, "UV_PYTHON=3.12": false, "UV_PROJECT=TOP": true, "UV_CONFIG_FILE=uv.toml": true, "UV_CACHE_DIR=TOP/c": false,
		"RBENV_HOOK_PATH=TOP/hooks": true, "PYENV_ROOT=TOP/p": true, "PYENV_VERSION=3.12:3.11": false, "MISE_GO_VERSION=path:TOP/go": true, "MISE_GO_VERSION=1.22": false,
		"MISE_NODE_MIRROR_URL=https://x/y": false, "MISE_PROJECT_ROOT=TOP": false, "ASDF_CONFIG_FILE=TOP/asdfrc": true, "COREPACK_HOME=TOP": true,
		"HOME=TOP": false, "TMPDIR=TOP": false, "NODE_OPTIONS=--require TOP/x": false,
	} {
		value = strings.NewReplacer("TOP", top, "AWAY", away).Replace(value)
		if got := a.Steers([]string{"A=b", value}); (got != "") != want {
			t.Errorf("Steers(%s) = %q, want one: %v", value, got, want)
		}
	}
}

func TestNeutral(t *testing.T) {
	top, away := repository(t)
	a := Of(top)
	env := []string{"A=b", "CARGO_HOME=" + away, "JAVA_TOOL_OPTIONS=-javaagent:x.jar", "NODE_OPTIONS=--require ./x", "PYTHONPATH=" + top, "RUBYOPT=-r./x"}
	if diff := cmp.Diff([]string{"A=b", "CARGO_HOME=" + away}, a.Neutral(env)); diff != "" {
		t.Errorf("Neutral (-want +got):\n%s", diff)
	}
	if got := a.Neutral([]string{"CARGO_HOME=" + top + "/.cargo"}); len(got) > 0 {
		t.Errorf("Neutral = %q", got)
	}
}

// TestOutside: the system's loader loads no file of the area, and an empty entry is the current
// directory.
func TestOutside(t *testing.T) {
	top, away := repository(t)
	env := []string{
		"PATH=" + top + "/bin:/usr/bin::", "LD_LIBRARY_PATH=" + away + ":", "LD_PRELOAD=" + top + "/x.so " + away + "/y.so z.so", "LD_AUDIT=./x.so",
		"DYLD_LIBRARY_PATH=" + top + ":lib", "X=" + top,
	}
	want := []string{"PATH=/usr/bin", "LD_LIBRARY_PATH=" + away, "LD_PRELOAD=" + away + "/y.so:z.so", "X=" + top}
	if diff := cmp.Diff(want, Of(top).Outside(env)); diff != "" {
		t.Errorf("Outside (-want +got):\n%s", diff)
	}
}

// TestFree: no interpreter that a script of the user starts is the area's, or loads its code.
func TestFree(t *testing.T) {
	top, away := repository(t)
	keep := []string{"A=b", "BASH_ENV=" + away + "/rc", "HOME=" + top, "JAVA_HOME=" + away, "PYTHONPATH=" + away + ":/usr/lib"}
	env := append([]string{
		"BASH_ENV=./rc", "ENV=" + top + "/rc", "JAVA_HOME=" + top, "LD_PRELOAD=" + top + "/x.so", "NODE_OPTIONS=--require x", "PERL5LIB=lib",
		"PYENV_ROOT=" + top, "PYTHONHOME=" + top + "/.venv", "PYTHONPATH=" + away + ":" + top, "PYTHONPATH=" + away + ":", "RUBYOPT=-rx", "VIRTUAL_ENV=" + top + "/.venv",
	}, keep...)
	if diff := cmp.Diff(keep, Of(top).Free(env)); diff != "" {
		t.Errorf("Free (-want +got):\n%s", diff)
	}
}
