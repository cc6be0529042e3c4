package testrun

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Kids returns m with a Run that removes, at its end, the program that Kid has built.
func Kids(m main) main { return kids{m} }

type kids struct{ main }

// Run implements main.
func (m kids) Run() int {
	defer func() { os.RemoveAll(kidDir()) }()
	_, _ = kid() // before a test runs a host, which ends children of this process that it does not know
	return m.main.Run()
}

// Kid returns the program that a test starts as a child: the test binary. If the test binary has the race detector
// and the go command is on PATH, Kid builds a binary without it, once in a run: a program with the detector takes
// four times as long to start, and no test sees the detector's reports from a child.
func Kid(tb testing.TB) string {
	tb.Helper()
	path, err := kid()
	if err != nil {
		tb.Fatal(err)
	}
	return path
}

var kid = sync.OnceValues(func() (string, error) {
	info, ok := debug.ReadBuildInfo()
	raced := ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
	if _, err := exec.LookPath("go"); err != nil || !raced {
		return os.Executable()
	}
	path := filepath.Join(kidDir(), "kid.test")
	cmd := exec.Command("go", "test", "-c", "-vet=off", "-ldflags=-s -w", "-o", path, strings.TrimSuffix(info.Path, ".test"))
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go test -c: %v: %s", err, out)
	}
	return path, nil
})

// kidDir makes the directory of the program: in memory if InMemory has chosen it before.
var kidDir = sync.OnceValue(func() string {
	dir, err := os.MkdirTemp("", "bento-kid-")
	if err != nil {
		panic(err)
	}
	return dir
})
