package adapter

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/proc"
	"github.com/bentobuild/bento/internal/state"
	"github.com/bentobuild/bento/internal/testrun"
	"github.com/bentobuild/bento/plugin/host"
)

// start starts candidates; the set is closed with the test.
func start(t *testing.T, o Options, candidates ...adapters.Candidate) *Set {
	t.Helper()
	if o.Digests == nil {
		o.Digests = digests()
	}
	set, err := Start(t.Context(), candidates, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(set.Close)
	return set
}

// statuses returns "id status" of each candidate.
func statuses(set *Set) []string {
	var list []string
	for _, s := range set.Status() {
		list = append(list, s.ID+" "+s.Status)
	}
	return list
}

func loaded(set *Set) []string {
	var ids []string
	for _, a := range set.Adapters() {
		ids = append(ids, a.Manifest().AdapterID)
	}
	return ids
}

func TestWhichCandidatesCount(t *testing.T) {
	one, two := t.TempDir(), t.TempDir()
	skipped := install(t, one, "off")
	skipped.Skip, skipped.SkipReason = adapters.SkipDisabled, "it is listed under [plugins] disable"
	wasm := adapters.Candidate{ID: "w", Path: filepath.Join(one, "bento-adapter-w.wasm"), Contract: adapters.ContractWasm}
	set := start(t, Options{Numbers: short(), Builtin: []string{"go"}},
		install(t, one, "go"), install(t, one, "wrong-id"), install(t, one, "zig"), skipped, wasm,
		install(t, two, "wrong-id"), install(t, two, "zig"), install(t, two, "good"))
	want := []string{"go shadowed", "wrong-id failed", "zig loaded", "off disabled", "w failed", "wrong-id failed", "zig shadowed", "good loaded"}
	if diff := cmp.Diff(want, statuses(set)); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"zig", "good"}, loaded(set)); diff != "" {
		t.Errorf("adapters (-want +got):\n%s", diff)
	}
	var rules []string
	for _, w := range set.Warnings() {
		rules = append(rules, w.Rule)
		if w.Severity != diagnostics.Warning || w.Message == "" {
			t.Errorf("warning %+v", w)
		}
	}
	if diff := cmp.Diff([]string{"plugin_shadowed", "plugin_failed", "plugin_failed", "plugin_failed", "plugin_duplicate"}, rules); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
	if f := set.Failures(); f["zig"] != nil || f["wrong-id"] == nil || f["wrong-id"].Path != filepath.Join(one, "bento-adapter-wrong-id") {
		t.Errorf("failures %v", f)
	}
}

// If the first copy of a plugin does not work, a later one is used.
func TestFirstThatWorks(t *testing.T) {
	broken := filepath.Join(t.TempDir(), "bento-adapter-zig")
	if err := os.WriteFile(broken, []byte("not a program"), 0o755); err != nil {
		t.Fatal(err)
	}
	set := start(t, Options{Numbers: short()},
		adapters.Candidate{ID: "zig", Path: broken, Contract: adapters.ContractV1}, install(t, t.TempDir(), "zig"))
	if diff := cmp.Diff([]string{"zig failed", "zig loaded"}, statuses(set)); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
	if s := set.Status()[0]; s.Code != adapters.LaunchFailed || !strings.Contains(s.Message, "exec format error") {
		t.Errorf("the first: %+v", s)
	}
	if f := set.Failures(); len(f) > 0 {
		t.Errorf("failures %v", f)
	}
}

// Each of 20 plugins ends its handshake only after all have begun theirs.
func TestStartsAtOnce(t *testing.T) {
	dir := t.TempDir()
	barrier, err := net.Listen("unix", filepath.Join(dir, "barrier"))
	if err != nil {
		t.Fatal(err)
	}
	var candidates []adapters.Candidate
	for i := range 20 {
		candidates = append(candidates, install(t, dir, fmt.Sprintf("waits-%d", i)))
	}
	go func() {
		defer barrier.Close()
		for range candidates {
			arrived, err := barrier.Accept()
			if err != nil {
				return
			}
			defer arrived.Close()
		}
	}()
	set := start(t, Options{Numbers: short()}, candidates...)
	if n := len(set.Adapters()); n != 20 {
		t.Errorf("%d of 20 loaded: %v", n, set.Warnings())
	}
}

func TestStartIsCancelled(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	set, err := Start(ctx, []adapters.Candidate{install(t, dir, "silent"), install(t, dir, "good")}, Options{Numbers: short(), Digests: digests()})
	if set != nil || err != context.Canceled {
		t.Errorf("got %v, %v, want %v", set, err, context.Canceled)
	}
	if left := testrun.LeftIn(dir); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// A plugin receives the strict base environment and its granted variables, and no secrets.
func TestEnvironment(t *testing.T) {
	env := adapters.NewEnviron([]string{
		"PATH=/usr/bin:/bin", "HOME=/home/me", "LC_ALL=C", "https_proxy=p",
		"AWS_SECRET_ACCESS_KEY=s", "BENTO_CACHE_TOKEN=s", "GITHUB_TOKEN=s", "ZIG_CACHE=z", "ZIG_HOME=h", "OTHER=o",
	})
	set := start(t, Options{Numbers: short(), Env: env, PassEnv: map[string][]string{"env": {"ZIG_*"}, "zig": {"OTHER"}}}, install(t, t.TempDir(), "env"))
	got, err := set.Adapters()[0].ToolchainFingerprint(t.Context(), "/")
	if err != nil {
		t.Fatal(err)
	}
	want := "HOME=/home/me LC_ALL=C PATH=/usr/bin:/bin ZIG_CACHE=z ZIG_HOME=h https_proxy=p"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// The warning about a plugin that does not start names the plugin, the failed step and the cause, and has
// a hint.
func TestWarningOfAFailedStart(t *testing.T) {
	set := start(t, Options{Numbers: short()}, install(t, t.TempDir(), "dies-talking"))
	w := set.Warnings()
	if len(w) != 1 || !strings.HasPrefix(w[0].Message, "plugin dies-talking: initialize: it exited (exit status 3) (handshake_failed): /") {
		t.Fatalf("got %+v", w)
	}
	want := "its last words: line 16\nline 17\nline 18\nline 19\nno [31mlicence\n" +
		"bento plugin test dies-talking shows whether the plugin is at fault: report that to its author, or list it under [plugins] disable\n" +
		`if the workspace needs it: [plugins] required = ["dies-talking"]`
	if diff := cmp.Diff(want, w[0].Hint); diff != "" {
		t.Errorf("hint (-want +got):\n%s", diff)
	}
}

func TestStderrIsPassedOn(t *testing.T) {
	var screen bytes.Buffer
	set := start(t, Options{Numbers: short(), Stderr: &screen}, install(t, t.TempDir(), "talkative"))
	set.Close()
	if got := screen.String(); got != "hello\x1b[0m\n" {
		t.Errorf("got %q", got)
	}
}

func TestIdentity(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	copyTo := func(more string) adapters.Candidate {
		path := filepath.Join(t.TempDir(), "bento-adapter-zig")
		data, err := os.ReadFile(exe)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, append(data, more...), 0o755); err != nil {
			t.Fatal(err)
		}
		return adapters.Candidate{ID: "zig", Path: path, Contract: adapters.ContractV1}
	}
	identity := func(c adapters.Candidate) string {
		set := start(t, Options{Numbers: short()}, c)
		return set.Adapters()[0].Manifest().Identity
	}
	first := identity(copyTo(""))
	if again := identity(copyTo("")); again != first {
		t.Errorf("a copy has another identity: %s, %s", again, first)
	}
	if changed := identity(copyTo("x")); changed == first {
		t.Errorf("a changed executable has the same identity")
	}
	if other := identity(install(t, t.TempDir(), "good")); other == first {
		t.Errorf("another manifest has the same identity")
	}
}

// The digest of an executable is saved for the next invocation, even if it turns out to be no plugin.
// (/bin/true is older than the test binary, and the digest of a file that has just changed is not saved.)
func TestDigestsAreSaved(t *testing.T) {
	dir := state.Open(t.TempDir())
	c := adapters.Candidate{ID: "true", Path: "/bin/true", Contract: adapters.ContractV1}
	start(t, Options{Numbers: short(), Digests: host.NewDigests(dir)}, c)
	if _, err := dir.Load("plugin-digests", 1); err != nil {
		t.Errorf("no digests in the state: %v", err)
	}
}

func TestAskedOnce(t *testing.T) {
	set := start(t, Options{Numbers: short()}, install(t, t.TempDir(), "counts"))
	a := set.Adapters()[0]
	var asking sync.WaitGroup
	for range 50 {
		asking.Go(func() {
			for _, dir := range []string{"/a", "/a/", "/b"} {
				if _, err := a.Detect(t.Context(), dir); err != nil {
					t.Error(err)
				}
				if _, err := a.RequiredToolchain(t.Context(), dir); err != nil {
					t.Error(err)
				}
			}
			a.ToolchainFingerprint(t.Context(), "/a")
		})
	}
	asking.Wait()
	links, err := adapters.Links(t.Context(), a, "/a")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"detect=2", "requiredToolchain=2", "resolvedToolchainFingerprint=1"}, links.Provides); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
}

func TestAnswersThatAreNotWaitedForAreNotKept(t *testing.T) {
	var m memo[string, int]
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := m.get(ctx, "a", func() (int, error) { cancel(); return 0, ctx.Err() }); err != context.Canceled {
		t.Errorf("got %v", err)
	}
	if n, err := m.get(t.Context(), "a", func() (int, error) { return 7, nil }); n != 7 || err != nil {
		t.Errorf("got %d, %v", n, err)
	}
}

func TestInstallErrors(t *testing.T) {
	for id, want := range map[string]string{
		"install-fails":         "plugin install-fails: error 2001: \"rebar3 compile\" exited with status 1\nrebar3 compile failed",
		"install-fails-barely":  "plugin install-fails-barely: error 2001: rebar3 compile failed",
		"install-misses-a-tool": "rebar3 is not installed",
	} {
		set := start(t, Options{Numbers: short()}, install(t, t.TempDir(), id))
		err := set.Adapters()[0].Install(t.Context(), adapters.InstallRequest{DishDir: "/a"}, nil)
		if err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", id, err, want)
		}
	}
}

func TestInstallIsCancelled(t *testing.T) {
	dir := t.TempDir()
	set := start(t, Options{Numbers: short()}, install(t, dir, "install-hangs"))
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	began := time.Now()
	err := set.Adapters()[0].Install(ctx, adapters.InstallRequest{DishDir: "/a"}, nil)
	if err != context.Canceled || time.Since(began) > limit {
		t.Errorf("got %v after %v", err, time.Since(began))
	}
}

func TestHooksThatAreNotUnderstood(t *testing.T) {
	set := start(t, Options{Numbers: short()}, install(t, t.TempDir(), "hooks"))
	var kept []string
	for _, task := range []string{"build", "check", "lint", "test"} {
		if _, ok := set.Adapters()[0].Manifest().DiagnosticHooks[task]; ok {
			kept = append(kept, task)
		}
	}
	if diff := cmp.Diff([]string{"lint"}, kept); diff != "" {
		t.Errorf("hooks (-want +got):\n%s", diff)
	}
	if n := len(set.Warnings()); n != 3 {
		t.Errorf("%d warnings, want 3: %v", n, set.Warnings())
	}
}

func TestFindings(t *testing.T) {
	set := start(t, Options{Numbers: short()}, install(t, t.TempDir(), "finds"))
	a := set.Adapters()[0]
	req := adapters.ParseRequest{TaskName: "lint", Stdout: "x\n", ExitStatus: 3, DishDir: "/w/dish", WorkspaceRoot: "/w"}
	got, err := a.ParseDiagnostics(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	want := []diagnostics.Diagnostic{
		{Severity: diagnostics.Error, Message: "../out.zig:3: m", Source: "zig"},
		{Severity: diagnostics.Error, Message: "/etc/passwd:3: m", Source: "zig"},
		{File: "dish/a.zig", Line: 1, Severity: diagnostics.Warning, Message: "m", Source: "finds"},
		{File: "dish/b.zig", Line: 3, Severity: diagnostics.Error, Message: "status 3", Source: "zig"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
	req.TaskName = "build" // no hook uses the plugin for it
	if got, err := a.ParseDiagnostics(t.Context(), req); got != nil || err != nil {
		t.Errorf("of a task without a hook: %v, %v", got, err)
	}
}

func TestOutputIsCut(t *testing.T) {
	if got := lastLines("abc\ndef\nghi\n", 6); got != "ghi\n" {
		t.Errorf("got %q", got)
	}
	if got := lastLines("abcdefghi", 6); got != "defghi" {
		t.Errorf("got %q", got)
	}
	// Even the worst text becomes a message that can be sent.
	set := start(t, Options{Numbers: short()}, install(t, t.TempDir(), "good"))
	for _, unit := range []string{"\x00", "é", "x"} {
		text := strings.Repeat(unit, 5<<20)
		req := adapters.ParseRequest{TaskName: "lint", Stdout: text, Stderr: text, DishDir: "/w", WorkspaceRoot: "/w"}
		if _, err := set.Adapters()[0].ParseDiagnostics(t.Context(), req); err != nil {
			t.Errorf("10 MiB of %q: %v", unit, err)
		}
	}
}

// noop builds the example in Go.
func noop(t testing.TB) adapters.Candidate {
	t.Helper()
	path := filepath.Join(t.TempDir(), "bento-adapter-noop")
	tool, err := exec.LookPath("go")
	if err != nil {
		t.Fatal(err)
	}
	// proc starts it: the host of another test, in this process, ends children that proc does not know.
	var out bytes.Buffer
	argv := []string{tool, "build", "-o", path, "github.com/bentobuild/bento/examples/bento-adapter-noop"}
	res, err := proc.Run(context.Background(), proc.Spec{Argv: argv, Env: os.Environ(), Stdout: &out, Stderr: &out, Timeout: ample})
	if err != nil || res.ExitCode != 0 {
		t.Fatalf("go build: %+v, %v\n%s", res, err, &out)
	}
	return adapters.Candidate{ID: "noop", Path: path, Contract: adapters.ContractV1}
}

// need skips a test whose tool is missing. It fails the test if the environment requires all tools.
func need(t *testing.T, tool string) {
	t.Helper()
	if _, err := exec.LookPath(tool); err == nil {
		return
	}
	if os.Getenv("BENTO_REQUIRE_TOOLS") == "1" {
		t.Fatalf("%s is not installed", tool)
	}
	t.Skipf("%s is not installed", tool)
}

// TestNoop calls the two examples as a run would.
func TestNoop(t *testing.T) {
	t.Parallel()
	t.Run("Go", func(t *testing.T) { testNoop(t, noop(t), "noop (Go)") })
	t.Run("Python", func(t *testing.T) {
		need(t, "python3")
		path, err := filepath.Abs("../../examples/bento-adapter-noop/python/bento-adapter-noop")
		if err != nil {
			t.Fatal(err)
		}
		testNoop(t, adapters.Candidate{ID: "noop", Path: path, Contract: adapters.ContractV1}, "noop (Python)")
	})
}

func testNoop(t *testing.T, c adapters.Candidate, display string) {
	numbers := short()
	numbers.Shutdown = ample
	set := start(t, Options{Version: "0.1.0", Env: adapters.NewEnviron(os.Environ()), Numbers: numbers}, c)
	if diff := cmp.Diff([]string{"noop loaded"}, statuses(set)); diff != "" {
		t.Fatalf("%s\n%v", diff, set.Warnings())
	}
	a := set.Adapters()[0]
	m := a.Manifest()
	if m.DisplayName != display || m.FingerprintFiles[0] != "noop.toml" || m.DefaultTasks[0].Name != "build" || m.Identity == "" {
		t.Errorf("manifest %+v", m)
	}
	dish := t.TempDir()
	other := t.TempDir()
	if err := os.WriteFile(filepath.Join(dish, "noop.toml"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]bool{dish: true, other: false} {
		if got, err := a.Detect(t.Context(), dir); got != want || err != nil {
			t.Errorf("detect %s: got %v, %v, want %v", dir, got, err, want)
		}
	}
	if pin, err := a.RequiredToolchain(t.Context(), dish); pin != nil || err != nil {
		t.Errorf("requiredToolchain: %v, %v", pin, err)
	}
	var logs []adapters.Log
	err := a.Install(t.Context(), adapters.InstallRequest{DishDir: dish, DishName: "dish"}, func(l adapters.Log) { logs = append(logs, l) })
	if diff := cmp.Diff([]adapters.Log{{Level: "info", Message: "noop install\n"}}, logs); err != nil || diff != "" {
		t.Errorf("install: %v, logs (-want +got):\n%s", err, diff)
	}
	began := time.Now()
	set.Close()
	if d := time.Since(began); d > limit {
		t.Errorf("the shutdown took %v: it was not done when asked", d)
	}
}
