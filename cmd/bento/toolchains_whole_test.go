package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bentobuild/bento/adapters/adaptertest"
)

// TestWholeWorkspaceIsWarm puts the projects of all adapters into one workspace, runs
// everything, and counts what a run with nothing to do starts: no process at all.
func TestWholeWorkspaceIsWarm(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes minutes")
	}
	t.Parallel()
	adaptertest.Need(t, "strace")
	whole := newWhole(t)
	for _, tc := range toolchains() {
		if tc.variant == "" {
			whole.add(t, &tc)
		}
	}
	whole.good()
	whole.nothingToDo()
	trace := filepath.Join(whole.home, "trace")
	bento := whole.command("ci", "--json")
	cmd := exec.Command("strace", append([]string{"-f", "-qq", "-o", trace, "-e", "trace=execve,fork,vfork,clone,clone3", "-e", "signal=none", bento.Path}, bento.Args[1:]...)...)
	cmd.Dir, cmd.Env = bento.Dir, bento.Env
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	data, err := os.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(strings.TrimSpace(string(data)), "\n")[1:] { // the first is bento itself
		if !strings.Contains(line, "CLONE_THREAD") && !strings.Contains(line, "resumed>") {
			t.Errorf("a process was started: %s", line)
		}
	}
	whole.measure()
}

// measure tells how long the best of some runs with nothing to do takes, with the
// start of the program.
func (k *kitchen) measure() {
	best := time.Hour
	for range 20 {
		begin := time.Now()
		if out, err := k.command("ci").CombinedOutput(); err != nil {
			k.t.Fatalf("%v\n%s", err, out)
		}
		best = min(best, time.Since(begin))
	}
	k.t.Logf("bento ci with nothing to do: %v", best)
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

// add puts the project of a row below the workspace, unless its tools are not here.
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
