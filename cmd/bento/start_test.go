package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The initialization of packages costs time in every command, even if the command does not use them. Most
// allocations are the tables and regular expressions of libraries: YAML, XML, WebAssembly.
const (
	maxInitBytes  = 180 << 10
	maxInitAllocs = 950
)

// TestStart limits the allocations of the program before main runs.
func TestStart(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds bento")
	}
	t.Parallel()
	bento := filepath.Join(t.TempDir(), "bento")
	if out, err := exec.Command("go", "build", "-ldflags=-w", "-o", bento, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	cmd := exec.Command(bento, "version")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	var trace strings.Builder
	cmd.Stderr = &trace
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, &trace)
	}
	packages, bytes, allocs := 0, 0, 0
	for line := range strings.Lines(trace.String()) {
		var name string
		var at, clock float64
		var b, a int
		if n, _ := fmt.Sscanf(line, "init %s @%f ms, %f ms clock, %d bytes, %d allocs", &name, &at, &clock, &b, &a); n == 5 {
			packages, bytes, allocs = packages+1, bytes+b, allocs+a
		}
	}
	t.Logf("%d packages make %d bytes in %d pieces", packages, bytes, allocs)
	if packages == 0 || bytes > maxInitBytes || allocs > maxInitAllocs {
		t.Errorf("%d packages make %d bytes in %d pieces before main; want at most %d in %d:\n%s", packages, bytes, allocs, maxInitBytes, maxInitAllocs, &trace)
	}
}

// TestWindows: the go command refuses to build bento for Windows, with one sentence before it compiles anything.
func TestWindows(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("go", "build", "-o", os.DevNull, ".")
	cmd.Env = append(os.Environ(), "GOOS=windows", "GOARCH=amd64")
	out, err := cmd.CombinedOutput()
	if err == nil || strings.Count(string(out), "\n") != 1 || !strings.Contains(string(out), "bento runs on Linux and macOS; on Windows use WSL") {
		t.Errorf("%v\n%s", err, out)
	}
}
