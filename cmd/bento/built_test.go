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

// builtDir is where programs are built that several tests use. TestMain removes it.
var builtDir = sync.OnceValue(func() string {
	dir, err := os.MkdirTemp("", "bento-built-")
	if err != nil {
		panic(err)
	}
	return dir
})

// builtBento returns the path of bento, which is built once a run. The test binary would do, but
// what the libraries of tests make before main runs takes longer than most commands.
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

// systemPython returns a directory of the system's python3 alone, for plugins that need no packages:
// those that are installed beside the one of PATH load at each start, for longer than most plugins
// run. The directory is empty where the system has none.
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

// quickPython returns a directory with a python3 that starts the one of PATH, "" where that is no
// script: the one of pyenv starts thirty programs before it.
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

// before returns the value of PATH that has dir, unless it is "", in front of path.
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
