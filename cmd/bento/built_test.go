package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"sync"
	"testing"
)

// builtDir is the directory of the programs that several tests use. TestMain removes it.
var builtDir = sync.OnceValue(func() string {
	dir, err := os.MkdirTemp("", "bento-built-")
	if err != nil {
		panic(err)
	}
	return dir
})

// builtBento returns the path of bento, which is built once per test run. The test binary would do, but
// its libraries are initialized before main runs, which takes longer than most commands.
func builtBento(tb testing.TB) string {
	tb.Helper()
	path, err := buildBento()
	if err != nil {
		tb.Fatal(err)
	}
	return path
}

// buildBento builds bento with the race detector if the tests have it.
var buildBento = sync.OnceValues(func() (string, error) {
	path := filepath.Join(builtDir(), "plain", "bento")
	if info, ok := debug.ReadBuildInfo(); ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"}) {
		return path, goBuild(path, "-race", ".")
	}
	return path, goBuild(path, ".")
})

// systemPython returns a directory with the system's python3 alone, for plugins that need no packages. The
// python3 of PATH may load installed packages at each start, which takes longer than most plugins run. The
// directory is empty if the system has no python3.
func systemPython(tb testing.TB) string {
	tb.Helper()
	dir, err := linkPython()
	if err != nil {
		tb.Fatal(err)
	}
	return dir
}

var linkPython = sync.OnceValues(func() (string, error) {
	const python = "/usr/bin/python3"
	dir := filepath.Join(builtDir(), "system")
	if err := os.Mkdir(dir, 0o755); err != nil {
		return "", err
	}
	if _, err := os.Stat(python); err != nil {
		return dir, nil
	}
	return dir, os.Symlink(python, filepath.Join(dir, "python3"))
})

// quickPython returns a directory with a python3 that starts the interpreter behind the python3 of PATH, ""
// unless the latter is a script: the script of pyenv starts thirty programs first.
var quickPython = sync.OnceValue(func() string {
	shim, err := exec.LookPath("python3")
	if err != nil {
		return ""
	}
	if text, err := os.ReadFile(shim); err != nil || !bytes.HasPrefix(text, []byte("#!")) {
		return ""
	}
	program, err := exec.Command(shim, "-c", "import sys; print(sys.executable, end='')").Output()
	if err != nil {
		return ""
	}
	dir := filepath.Join(builtDir(), "python")
	if os.MkdirAll(dir, 0o755) != nil || os.WriteFile(filepath.Join(dir, "python3"), fmt.Appendf(nil, "#!/bin/sh\nexec '%s' \"$@\"\n", program), 0o755) != nil {
		return ""
	}
	return dir
})

// before returns path with dir in front, or path if dir is "".
func before(dir, path string) string {
	if dir == "" {
		return path
	}
	return dir + string(filepath.ListSeparator) + path
}

func goBuild(path string, args ...string) error {
	cmd := exec.Command("go", append([]string{"build", "-buildvcs=false", "-ldflags=-s -w", "-o", path}, args...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %v: %s", err, out)
	}
	return nil
}
