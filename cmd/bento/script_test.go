package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/observe"
	"github.com/bentobuild/bento/internal/sampling"
	"github.com/bentobuild/bento/internal/sandbox"
	"github.com/bentobuild/bento/internal/sandbox/sandboxtest"
	"github.com/bentobuild/bento/internal/testrun"
	"github.com/bentobuild/bento/plugin/wasm/wasmtest"
)

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == guardCommand {
		os.Exit(bento()) // started by a test that runs commands in its own process
	}
	if len(os.Args) > 1 && os.Args[1] == sandbox.RulesCommand {
		fmt.Fprintln(os.Stderr, "bento:", sandbox.EnterRules(os.Args[2:]))
		os.Exit(exitUnrun)
	}
	if len(os.Args) > 1 && os.Args[1] == observe.Command {
		os.Exit(bento()) // likewise
	}
	if len(os.Args) > 3 && os.Args[1] == measureCommand {
		os.Exit(measured())
	}
	if id, ok := isSpy(); ok {
		serveSpy(id)
		// Under the race detector, os.Exit would sleep for a second: the settings of the detector
		// do not reach a plugin.
		syscall.Exit(0)
	}
	if len(os.Args) > 2 && os.Args[1] == withoutCommand {
		fmt.Fprintln(os.Stderr, sandboxtest.Become(os.Args[2], os.Args[3:]))
		os.Exit(1)
	}
	testscript.Main(testrun.Waiting(testrun.InMemory(suite{m})), map[string]func(){
		"bento-panics":    panics,
		"bento-rules-off": rulesOff,
	})
}

// suite removes the built programs at its end. With -short, it puts a quick python3 on PATH; without, the
// tests with real tools choose an interpreter.
type suite struct{ *testing.M }

func (s suite) Run() int {
	defer func() { os.RemoveAll(builtDir()) }()
	if testing.Short() {
		_ = os.Setenv("PATH", before(quickPython(), os.Getenv("PATH")))
	}
	return s.M.Run()
}

// panics is a bento with a bug: each write to its stdout panics.
func panics() {
	if len(os.Args) == 2 && os.Args[1] == guardCommand {
		os.Exit(bento()) // the guard process of bento, which ends its tasks
	}
	os.Exit(execute(context.Background(), os.Args[1:], process{out: brokenWriter{}, err: os.Stderr, environ: adapters.NewEnviron(os.Environ())}))
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { panic("nobody can read this") }

// TestScript runs the scripts of testdata/script that need no toolchain: one behaviour
// each. With -short it runs one in six of the quick ones, unless -test.run names one.
func TestScript(t *testing.T) {
	t.Parallel()
	files, _ := scripts(t)
	if testing.Short() && !strings.Contains(flag.Lookup("test.run").Value.String(), "/") {
		files = sampling.Short(t, 6, slices.DeleteFunc(files, isLong))
	}
	runScripts(t, "", files, systemPython(t))
}

// isLong reports whether a script runs a conformance suite or a compiler: it takes more than two seconds.
func isLong(file string) bool {
	text, err := os.ReadFile(file)
	return err == nil && long.Match(text)
}

var long = regexp.MustCompile(`\bbento (plugin|tool|ext) test\b|\bcmake\b|\bstrace\b|\bgo build\b|\bmake -C\b`)

// TestScriptWithTools runs the scripts of testdata/script that need a toolchain.
func TestScriptWithTools(t *testing.T) {
	if testing.Short() {
		t.Skip("most of its time belongs to the tools")
	}
	t.Parallel()
	_, files := scripts(t)
	runScripts(t, testrun.OnDisk(t), files) // Deno reads a path below /dev only with all permissions
}

// scripts lists the scripts that need no toolchain of an adapter, and those that need one.
func scripts(t *testing.T) (plain, tools []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "script", "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d scripts, %v", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if toolchainNeeded.Match(text) {
			tools = append(tools, file)
		} else {
			plain = append(plain, file)
		}
	}
	return plain, tools
}

// toolchainNeeded matches the condition of a script that needs a toolchain. Python is left out: many
// plugins of the scripts are written in it, and it starts fast.
var toolchainNeeded = regexp.MustCompile(`\[!tool:(go|cargo|uv|poetry|ruby|bundle|php|composer|mvn|gradle|javac|deno|bun|node|npm|pnpm|yarn)\]`)

// runScripts runs scripts below root ("": where temporary files are), with these directories in front of PATH.
func runScripts(t *testing.T, root string, files []string, path ...string) {
	runScriptsWith(t, root, files, func(env *testscript.Env) {
		for _, dir := range path {
			env.Setenv("PATH", before(dir, env.Getenv("PATH")))
		}
	})
}

// runScriptsWith runs scripts below root, each in an environment that set changes.
func runScriptsWith(t *testing.T, root string, files []string, set func(*testscript.Env)) {
	testscript.Run(t, testscript.Params{
		Files:               files,
		WorkdirRoot:         root,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       os.Getenv("UPDATE_SCRIPTS") != "",
		Setup: func(env *testscript.Env) error {
			err := setup(env)
			set(env)
			return err
		},
		Condition: condition,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"code":         exitsWith,
			"json":         jsonPath,
			"replay":       replay,
			"signal":       signalled,
			"nothing-left": nothingLeft,
			"spy":          installSpy,
			"standins":     makeStandIns,
			"without":      onLesserKernel,
			"module":       writeModule,
		},
	})
}

// setup makes a cache and a home for a script. The tools use the caches of the machine, so that no script
// has to fill them again. setup moves the directory out of the script, which has plugins, outside of the
// workspace to $OUT.
func setup(env *testscript.Env) error {
	out := filepath.Join(filepath.Dir(env.WorkDir), "out-of-"+filepath.Base(env.WorkDir))
	if err := os.Rename(filepath.Join(env.WorkDir, "out"), out); err != nil {
		if err := os.Mkdir(out, 0o755); err != nil {
			return err
		}
	}
	env.Defer(func() { os.RemoveAll(out) })
	env.Setenv("OUT", out)
	temp := filepath.Join(filepath.Dir(env.WorkDir), "temp-of-"+filepath.Base(env.WorkDir)) // in the workspace, its files would be inputs
	if err := os.Mkdir(temp, 0o755); err != nil {
		return err
	}
	env.Defer(func() { os.RemoveAll(temp) })
	env.Setenv("TMPDIR", temp)
	bento, err := buildBento()
	if err != nil {
		return err
	}
	env.Setenv("PATH", before(filepath.Dir(bento), before(quickPython(), env.Getenv("PATH"))))
	for _, name := range []string{"home", "cache"} {
		if err := os.MkdirAll(filepath.Join(env.WorkDir, name), 0o755); err != nil {
			return err
		}
	}
	env.Setenv("HOME", filepath.Join(env.WorkDir, "home"))
	env.Setenv("BENTO_CACHE_DIR", filepath.Join(env.WorkDir, "cache"))
	repo, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		return err
	}
	env.Setenv("REPO", repo)
	env.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	env.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	for _, name := range passed {
		if value, ok := os.LookupEnv(name); ok {
			env.Setenv(name, value)
		}
	}
	for name, dir := range toolHomes() {
		if os.Getenv(name) == "" {
			env.Setenv(name, dir)
		}
	}
	return nil
}

// passed are the variables by which this machine configures tools and the race detector.
var passed = []string{
	"GOPROXY", "GOSUMDB", "GONOSUMDB", "GOFLAGS", "GOCACHE", "GOMODCACHE", "CARGO_HOME", "RUSTUP_HOME", "PIP_INDEX_URL",
	"PIP_CERT", "PIP_FIND_LINKS", "PIP_DISABLE_PIP_VERSION_CHECK", "PIP_NO_COMPILE", "NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "PYENV_ROOT", "NPM_CONFIG_USERCONFIG",
	"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy",
	"GORACE", // settings of the race detector
}

// toolHomes returns the directories of tools below the real home, by variable.
func toolHomes() map[string]string {
	home, err := os.UserHomeDir()
	if err != nil {
		return nil
	}
	return map[string]string{
		"GOCACHE":               filepath.Join(home, ".cache", "go-build"),
		"GOMODCACHE":            filepath.Join(home, "go", "pkg", "mod"),
		"CARGO_HOME":            filepath.Join(home, ".cargo"),
		"RUSTUP_HOME":           filepath.Join(home, ".rustup"),
		"npm_config_cache":      filepath.Join(home, ".npm"),
		"NPM_CONFIG_USERCONFIG": filepath.Join(home, ".npmrc"),
		"PIP_CACHE_DIR":         filepath.Join(home, ".cache", "pip"),
		"PIP_CONFIG_FILE":       filepath.Join(home, ".config", "pip", "pip.conf"),
	}
}

// condition evaluates the conditions of scripts. [tool:NAME]: the tool is installed; with
// $BENTO_REQUIRE_TOOLS, a missing tool fails the script instead of skipping it. [sandbox]: the kernel can
// confine plugins. [unshare]: the test can mount file systems. [root]: root runs the tests. [serde]:
// Debian's sources of serde_json are installed.
func condition(cond string) (bool, error) {
	if cond == "sandbox" {
		return len(sandbox.Offered().Lacks()) == 0, nil
	}
	if cond == "root" {
		return os.Geteuid() == 0, nil
	}
	if cond == "unshare" {
		return exec.Command("unshare", "-rm", "true").Run() == nil, nil
	}
	if cond == "serde" {
		crates, err := filepath.Glob("/usr/share/cargo/registry/serde_json-*") // from the package librust-serde-json-dev
		return len(crates) > 0 || os.Getenv("BENTO_REQUIRE_TOOLS") != "", err
	}
	tool, ok := strings.CutPrefix(cond, "tool:")
	if !ok {
		return false, os.ErrInvalid
	}
	if os.Getenv("BENTO_REQUIRE_TOOLS") != "" {
		return true, nil
	}
	_, err := exec.LookPath(tool)
	return err == nil, nil
}

// exitsWith runs "code N COMMAND…": the command must exit with code N.
func exitsWith(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N COMMAND…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	if exit, ok := asExit(err); ok {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
	checkDocuments(ts, args[1:])
}

// writeModule runs "module FILE TEXT": it writes a WebAssembly module whose answer to every call is the text.
func writeModule(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: module FILE TEXT")
	}
	answer, err := json.Marshal(map[string]string{"output": args[1]})
	ts.Check(err)
	file := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(filepath.Dir(file), 0o755))
	ts.Check(os.WriteFile(file+".new", wasmtest.Answering(string(answer)).Bytes(), 0o644))
	ts.Check(os.Rename(file+".new", file)) // bento watch never reads half a module
}

func asExit(err error) (*exec.ExitError, bool) {
	exit, ok := err.(*exec.ExitError)
	return exit, ok
}

// jsonPath runs "json FILE PATH VALUE": the value at a path such as bentos.0.dishes.1.name must be VALUE.
// # is the length of a list. Without VALUE, the path must exist.
func jsonPath(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: json FILE PATH [VALUE]")
	}
	doc := bytes.TrimSpace([]byte(ts.ReadFile(args[0])))
	ts.Check(conforms(doc))
	got, err := lookup(doc, args[1])
	switch {
	case len(args) == 2 && neg == (err == nil):
		ts.Fatalf("%s: %q, %v", args[1], got, err)
	case len(args) > 2 && (err != nil || (got == args[2]) == neg):
		ts.Fatalf("%s is %q (%v), want %q", args[1], got, err, args[2])
	}
}
