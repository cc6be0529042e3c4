package wasm

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/sandbox/sandboxtest"
	"github.com/bentobuild/bento/internal/testrun"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "without-landlock" {
		fmt.Fprintln(os.Stderr, sandboxtest.Become("landlock", os.Args[2:]))
		os.Exit(1)
	}
	goleak.VerifyTestMain(testrun.InMemory(testrun.Kids(m)), goleak.Cleanup(func(code int) {
		if os.Getenv(builtBefore) == "" {
			os.RemoveAll(guestDir())
		}
		os.Exit(code)
	}))
}

// guestDir is the directory in which the guest is built and compiled, once a run.
var guestDir = sync.OnceValue(func() string {
	if path := os.Getenv(builtBefore); path != "" {
		return filepath.Dir(path)
	}
	dir, err := os.MkdirTemp("", "bento-wasm-guest-")
	if err != nil {
		panic(err)
	}
	return dir
})

// builtBefore names the variable with the guest of the test that has started this binary.
const builtBefore = "BENTO_TEST_GUEST"

var built = sync.OnceValues(func() (string, error) {
	if path := os.Getenv(builtBefore); path != "" {
		return path, nil
	}
	path := filepath.Join(guestDir(), "guest.wasm")
	cmd := exec.Command("go", "build", "-buildmode=c-shared", "-o", path, "./testdata/guest")
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "GOFLAGS=-trimpath")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%v: %s", err, out)
	}
	return path, nil
})

// guest returns the path of testdata/guest as a module of the real toolchain.
func guest(t testing.TB) string {
	t.Helper()
	path, err := built()
	if err != nil {
		t.Fatal(err)
	}
	compile.Do(func() { compileGuest(t, path) })
	return path
}

var compile sync.Once

// compileGuest compiles the guest without the race detector, which makes the compiler ten times as slow.
// The small modules of other tests are compiled with it.
func compileGuest(t testing.TB, path string) {
	self, err := os.Executable()
	if err != nil || os.Getenv(builtBefore) != "" || testrun.Kid(t) == self {
		return
	}
	cmd := exec.Command(testrun.Kid(t), "-test.run", "^TestGuestError$")
	cmd.Env = append(os.Environ(), builtBefore+"="+path)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

func open(t testing.TB, o Options) *Tool {
	t.Helper()
	e := NewEngine(EngineOptions{Dir: filepath.Join(guestDir(), "compiled"), Warn: func(m, h string) { t.Errorf("warning: %s (%s)", m, h) }})
	t.Cleanup(e.Close)
	return openWith(t, e, o)
}

func openWith(t testing.TB, e *Engine, o Options) *Tool {
	t.Helper()
	if o.ID == "" {
		o.ID = "probe"
	}
	if o.Bytes == nil && o.Path == "" {
		o.Path = guest(t)
	}
	tool, err := e.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	return tool
}

// say returns the call with a text as input.
func say(text string) adapters.ToolCall {
	b, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return adapters.ToolCall{Input: b}
}

func do(t testing.TB, tool *Tool, c adapters.ToolCall) (adapters.ToolAnswer, error) {
	t.Helper()
	return tool.Call(context.Background(), c)
}

// must calls and returns the output of a call that succeeds.
func must(t testing.TB, tool *Tool, c adapters.ToolCall) string {
	t.Helper()
	a, err := do(t, tool, c)
	if err != nil {
		t.Fatalf("Call(%s): %v", c.Input, err)
	}
	return a.Output
}
