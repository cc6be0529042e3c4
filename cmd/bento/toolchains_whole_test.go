package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bentobuild/bento/adapters/adaptertest"
	"github.com/bentobuild/bento/internal/sampling"
)

// TestWholeWorkspaceIsWarm puts the projects of several adapters, or of all, into one workspace and runs all
// tasks. It then checks that a run of cache hits starts no process.
func TestWholeWorkspaceIsWarm(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes minutes")
	}
	t.Parallel()
	adaptertest.Need(t, "strace")
	whole := newWhole(t)
	rows := slices.DeleteFunc(toolchains(), func(tc toolchain) bool { return tc.variant != "" })
	for _, tc := range sampling.Of(t, 3, rows) {
		whole.add(t, &tc)
	}
	whole.good()
	whole.startNothing()
}

// processStarted matches a line of strace about a new process. It also matches clone calls for threads; the caller
// skips these.
var processStarted = regexp.MustCompile(`^\d+ +(execve|v?fork|clone3?)\(`)

// startNothing checks that bento ci has only cache hits, and that a further bento ci starts no process.
func (k *kitchen) startNothing() {
	k.nothingToDo()
	if _, err := exec.LookPath("strace"); err != nil && os.Getenv("BENTO_REQUIRE_TOOLS") != "1" {
		k.t.Log("without strace: what is started is not looked at")
		return
	}
	trace := filepath.Join(k.home, "trace")
	bento := k.command("ci", "--json")
	cmd := exec.Command("strace", append([]string{"-f", "-qq", "-o", trace, "-e", "trace=execve,fork,vfork,clone,clone3", "-e", "signal=none", bento.Path}, bento.Args[1:]...)...)
	cmd.Dir, cmd.Env = bento.Dir, bento.Env
	if out, err := cmd.CombinedOutput(); err != nil {
		k.t.Fatalf("%v\n%s", err, out)
	}
	data, err := os.ReadFile(trace)
	if err != nil {
		k.t.Fatal(err)
	}
	started := 0
	for line := range strings.Lines(string(data)) {
		if !processStarted.MatchString(line) || strings.Contains(line, "CLONE_THREAD") {
			continue
		}
		if started++; started > 1 { // the first process is bento itself
			k.t.Errorf("a process was started: %s", line)
		}
	}
	if started == 0 {
		k.t.Errorf("strace has not seen bento start:\n%.2000s", data)
	}
}

// newWhole makes an empty workspace.
func newWhole(t *testing.T) *kitchen {
	k := &kitchen{t: t, tc: &toolchain{}, ws: adaptertest.Project(t, "-- bento.toml --\n"), home: t.TempDir()}
	if err := os.RemoveAll(k.path(".git")); err != nil {
		t.Fatal(err)
	}
	k.env = toolEnv(k.home)
	return k
}

// add copies the project of a row to the workspace, unless a tool of it is missing.
func (k *kitchen) add(t *testing.T, tc *toolchain) {
	for _, tool := range tc.needs {
		if _, err := k.env.LookPath(tool); err != nil && os.Getenv("BENTO_REQUIRE_TOOLS") != "1" {
			t.Logf("without %s: %s is not installed", tc.id, tool)
			return
		}
	}
	one := newKitchen(t, tc)
	for _, name := range []string{"bento.toml", "aside"} {
		if err := os.RemoveAll(one.path(name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Rename(one.ws, k.path(tc.id)); err != nil {
		t.Fatal(err)
	}
}
